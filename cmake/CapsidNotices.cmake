# Who wrote what is in what we ship: each folder names what it takes in of
# others (scripts/notices.mjs tells what may be named), and the file
# THIRD-PARTY-NOTICES is made of that.
set(CAPSID_NOTICES_SCRIPT ${CMAKE_SOURCE_DIR}/scripts/notices.mjs)

# capsid_bundles(WASM|NATIVE FILE...): in our WebAssembly, or beside it in the
# native code.
function(capsid_bundles where)
	set_property(GLOBAL APPEND PROPERTY CAPSID_BUNDLES_${where} ${ARGN})
endfunction()

# capsid_notices(TARGET OUT LIST WHERE FILE...): makes OUT of what is in the
# WHERE (a list) and of the FILEs; LIST will hold their names.
function(capsid_notices target out list where)
	set(files ${ARGN})
	foreach(one ${where})
		get_property(more GLOBAL PROPERTY CAPSID_BUNDLES_${one})
		list(APPEND files ${more})
	endforeach()
	list(JOIN files "\n" lines)
	file(GENERATE OUTPUT ${list} CONTENT "${lines}\n")
	add_custom_command(OUTPUT ${out}
		COMMAND ${CAPSID_NODE} ${CAPSID_NOTICES_SCRIPT} ${out} ${list}
		DEPENDS ${files} ${list} ${CAPSID_NOTICES_SCRIPT}
		COMMENT "third-party notices" VERBATIM)
	add_custom_target(${target} ALL DEPENDS ${out})
endfunction()

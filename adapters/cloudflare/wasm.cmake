# The WebAssembly of the native build as a Worker loads it: with a maximum set
# to its memory, all in build/cloudflare. Names end as bundlers expect them.
find_program(CAPSID_WASM_OBJDUMP wasm-objdump REQUIRED)
set(cloudflare_wasm ${CMAKE_BINARY_DIR}/cloudflare)
set(limit_memory ${CMAKE_CURRENT_SOURCE_DIR}/scripts/limit-memory.mjs)
file(MAKE_DIRECTORY ${cloudflare_wasm})

# cloudflare_module(NAME FROM PAGES [OPTION...])
function(cloudflare_module name from pages)
	set(out ${cloudflare_wasm}/${name}.wasm)
	add_custom_command(OUTPUT ${out}
		COMMAND ${CAPSID_NODE} ${limit_memory} ${from} ${out} ${pages}
			${ARGN}
		DEPENDS ${from} ${limit_memory}
		COMMENT "cloudflare ${name}.wasm" VERBATIM)
endfunction()
# cloudflare_copy(OUT FROM)
function(cloudflare_copy out from)
	add_custom_command(OUTPUT ${cloudflare_wasm}/${out}
		COMMAND ${CMAKE_COMMAND} -E copy ${from}
			${cloudflare_wasm}/${out}
		DEPENDS ${from} COMMENT "cloudflare ${out}" VERBATIM)
endfunction()

cloudflare_module(strip ${CMAKE_BINARY_DIR}/wasm/strip.wasm 1024)
cloudflare_module(json ${CMAKE_BINARY_DIR}/wasm/json.wasm 2048)
cloudflare_module(quickjs ${CAPSID_NPM}/quickjs-wasi/quickjs.wasm 2048
	--host-grows ${CAPSID_WASM_OBJDUMP})
cloudflare_copy(realm.wasm ${CMAKE_BINARY_DIR}/wasm/realm.wasm)
cloudflare_copy(realm.bin ${CMAKE_BINARY_DIR}/wasm/realm.image)
add_custom_target(capsid-cloudflare-wasm ALL DEPENDS
	${cloudflare_wasm}/strip.wasm ${cloudflare_wasm}/json.wasm
	${cloudflare_wasm}/quickjs.wasm ${cloudflare_wasm}/realm.wasm
	${cloudflare_wasm}/realm.bin)
add_dependencies(capsid-cloudflare-wasm capsid-strip-module capsid-json-wasm
	capsid-quickjs-image-file)

if(NOT CAPSID_SANITIZE)
	add_test(NAME cloudflare.wasm COMMAND ${CAPSID_NODE} --test
		--test-reporter=tap ${CMAKE_CURRENT_SOURCE_DIR}/test/wasm/)
	set_tests_properties(cloudflare.wasm PROPERTIES LABELS cloudflare
		TIMEOUT 300 ENVIRONMENT
		"CAPSID_WASM=${cloudflare_wasm};CAPSID=$<TARGET_FILE:capsid-cli>")
endif()

# The C isolation "workerd": its Worker, and workerd itself, beside the library.
set(local_worker ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/capsid-workerd)
file(GLOB_RECURSE worker_sources CONFIGURE_DEPENDS
	${CMAKE_CURRENT_SOURCE_DIR}/src/*.ts)
set(local_inputs ${cloudflare_wasm}/local.inputs)
capsid_bundles(NATIVE ${local_inputs})
add_custom_command(OUTPUT ${local_worker}/worker.capnp ${local_inputs}
	COMMAND ${CAPSID_NODE}
		${CMAKE_CURRENT_SOURCE_DIR}/scripts/build-local.mjs
		${local_worker} ${cloudflare_wasm}
	COMMAND ${CMAKE_COMMAND} -E create_symlink
		${CMAKE_CURRENT_SOURCE_DIR}/node_modules/@cloudflare/workerd-linux-64/bin/workerd
		${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/workerd
	DEPENDS ${worker_sources} ${CMAKE_CURRENT_SOURCE_DIR}/build.mjs
		${CMAKE_CURRENT_SOURCE_DIR}/scripts/build-local.mjs
		${cloudflare_wasm}/json.wasm
	COMMENT "the Worker of the isolation workerd" VERBATIM)
add_custom_target(capsid-local-worker ALL
	DEPENDS ${local_worker}/worker.capnp)
add_dependencies(capsid-local-worker capsid-cloudflare-wasm)

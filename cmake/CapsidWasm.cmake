# WebAssembly in the build: clang with wasi-libc makes it, wasm2c translates
# it to C, src/sfi/access.h goes into that, the C compiler puts it behind the
# wall.
find_program(CAPSID_WASM_CLANG NAMES clang-14 clang REQUIRED)
find_program(CAPSID_WASM2C wasm2c REQUIRED)
find_program(CAPSID_NODE node REQUIRED)
# what it writes is partly its own text
capsid_bundles(NATIVE ${CAPSID_WASM2C})
set(CAPSID_NPM ${CMAKE_SOURCE_DIR}/node_modules)
set(CAPSID_ACCESS ${CMAKE_SOURCE_DIR}/cmake/access.mjs)

# capsid_wasm2c(NAME WASM [MODULE]): ${NAME}.c and ${NAME}.h in the binary
# directory; MODULE (default NAME) is its name in other modules' imports.
function(capsid_wasm2c name wasm)
	set(out ${CMAKE_CURRENT_BINARY_DIR}/${name})
	set(module ${name})
	if(ARGC GREATER 2)
		set(module ${ARGV2})
	endif()
	add_custom_command(OUTPUT ${out}.c ${out}.h
		COMMAND ${CAPSID_WASM2C} ${wasm} -n ${module} -o ${out}.c
		COMMAND ${CAPSID_NODE} ${CAPSID_ACCESS} ${out}.c
		DEPENDS ${wasm} ${CAPSID_ACCESS}
		COMMENT "wasm2c ${name}" VERBATIM)
endfunction()

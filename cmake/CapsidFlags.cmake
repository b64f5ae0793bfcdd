# The flags of our own C. capsid_own(TARGET) gives them to a target; what
# wasm2c generates is exempt and gets capsid_generated(TARGET) instead.
set(CAPSID_WARNINGS
	-Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes
	-Wmissing-prototypes -Werror)

if(CAPSID_SANITIZE)
	add_compile_options(-fsanitize=${CAPSID_SANITIZE}
		-fno-omit-frame-pointer -fno-sanitize-recover=all)
	add_link_options(-fsanitize=${CAPSID_SANITIZE})
endif()

function(capsid_own target)
	target_compile_options(${target} PRIVATE ${CAPSID_WARNINGS})
	target_include_directories(${target} PRIVATE
		${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/src)
	target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
endfunction()

# Generated code is checked by WebAssembly's own rules: a load from a guard
# page is a trap here and must reach the kernel, so no sanitizer looks at it.
function(capsid_generated target)
	target_compile_options(${target} PRIVATE -O2 -w
		-fno-sanitize=all -fno-strict-aliasing)
	target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src)
	target_compile_options(${target} PRIVATE
		-include ${CMAKE_SOURCE_DIR}/src/sfi/access.h)
endfunction()

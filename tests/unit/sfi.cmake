# Software fault isolation with a guest of our own.
set(probe_wasm ${CMAKE_CURRENT_BINARY_DIR}/probe.wasm)
add_custom_command(OUTPUT ${probe_wasm}
	COMMAND ${CAPSID_WASM_CLANG} --target=wasm32-wasi -nostdlib -O2
		-mbulk-memory -fno-builtin -Wall -Wextra -Werror
		-Wno-int-to-pointer-cast
		-mmutable-globals -Wl,--no-entry -Wl,--export=__stack_pointer
		-Wl,-z,stack-size=65536 -Wl,--strip-all -o ${probe_wasm}
		${CMAKE_CURRENT_SOURCE_DIR}/wasm/probe.c
	DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/wasm/probe.c
	COMMENT "probe.wasm" VERBATIM)
capsid_wasm2c(probe ${probe_wasm})
add_library(capsid-test-probe OBJECT ${CMAKE_CURRENT_BINARY_DIR}/probe.c
	${CMAKE_CURRENT_BINARY_DIR}/probe.h)
capsid_generated(capsid-test-probe)

foreach(test test_sfi test_snapshot)
	capsid_unit(${test} LIBS capsid-sfi capsid-base capsid-test-probe
		Threads::Threads)
	target_sources(${test} PRIVATE guest.c)
	target_include_directories(${test} PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
	add_dependencies(${test} capsid-test-probe)
endforeach()
target_link_options(test_sfi PRIVATE LINKER:--wrap=mprotect)
set_tests_properties(unit/test_sfi PROPERTIES LABELS "unit;threads")

# The whole library, in processes that have fault handlers of their own.
capsid_unit(test_fault LIBS capsid-static capsid-test-probe)
target_sources(test_fault PRIVATE guest.c)
target_include_directories(test_fault PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
add_dependencies(test_fault capsid-test-probe)

# White-box: engine.c is compiled into the test.
capsid_unit(test_slot LIBS capsid-static)
target_include_directories(test_slot PRIVATE
	${CMAKE_BINARY_DIR}/src/engine/quickjs)

# The machine says no.
capsid_unit(test_torture TORTURE LIBS capsid-static)
target_sources(test_torture PRIVATE refuse.c)
foreach(call mmap mprotect madvise memfd_create ftruncate pwrite fcntl
		pthread_create sigaction sigaltstack open ioctl)
	target_link_options(test_torture PRIVATE LINKER:--wrap=${call})
endforeach()

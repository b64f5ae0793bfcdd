# The sandbox: the plan without any effect; then the real thing, as who we are
# and, where that is root, as nobody too.
set(sandbox_libs capsid-sandbox capsid-json capsid-base)
capsid_unit(test_sandbox_plan TORTURE LIBS ${sandbox_libs})
# The thread sanitizer has a thread of its own: it counts as a process there.
if(NOT CAPSID_SANITIZE MATCHES "thread")
	capsid_unit(test_sandbox_cgroup LIBS ${sandbox_libs})
endif()
foreach(name test_sandbox test_sandbox_calls test_sandbox_missing
	test_sandbox_end test_sandbox_late)
	# The thread sanitizer has a thread of its own, and a process with
	# threads can't enter a user namespace.
	if(CAPSID_SANITIZE MATCHES "thread")
		continue()
	endif()
	capsid_unit(${name} LIBS ${sandbox_libs} Threads::Threads)
	target_sources(${name} PRIVATE sandbox_inside.c)
	# The search for leaks traces its process, which a sandbox forbids.
	set_tests_properties(unit/${name} PROPERTIES
		ENVIRONMENT "ASAN_OPTIONS=detect_leaks=0")
endforeach()
if(TARGET test_sandbox_calls)
	# Any file that a Python program sees, and nobody locks.
	target_compile_definitions(test_sandbox_calls PRIVATE
		CAPSID_TEST_HOST_FILE="${CAPSID_PYTHON_STDLIB}/this.py")
endif()

# The commands of `--bind`, as `capsid run` has them.
if(TARGET capsid)
	capsid_unit(test_commands
		LIBS capsid capsid-json capsid-base Threads::Threads)
	target_sources(test_commands PRIVATE
		${CMAKE_SOURCE_DIR}/src/cli/commands.c
		${CMAKE_SOURCE_DIR}/src/cli/process.c)
endif()

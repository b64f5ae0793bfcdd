# Parsers of what strangers, images and dying guests write.
set(source ${CMAKE_SOURCE_DIR})
capsid_fuzz(hello SOURCES ${source}/guest/server/hello.c
	LIBS capsid-port capsid-json capsid-base)
capsid_fuzz(report SOURCES ${source}/src/sandbox/report.c LIBS capsid-base)
if(EXISTS ${source}/src/oci/layout.c)
	capsid_fuzz(image SOURCES ${source}/src/oci/layout.c
		LIBS capsid-json capsid-base
		LINK_OPTIONS -Wl,--wrap=stat,--wrap=symlink)
endif()
foreach(target replay_hello fuzz_hello)
	if(TARGET ${target})
		target_include_directories(${target} PRIVATE ${source})
	endif()
endforeach()

if(TARGET capsid-static)
	capsid_fuzz(schedule LIBS capsid-static)
	if(CAPSID_FUZZ)
		target_compile_options(
			capsid-run PRIVATE -fsanitize=fuzzer-no-link)
	endif()
endif()

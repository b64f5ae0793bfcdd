if(NOT TARGET capsid-run)
	return()
endif()
# src/run alone, over fake guests: on one thread, and on real ones.
set(run_libs capsid-run capsid-contract capsid-json capsid-base)
capsid_fuzz(schedule
	SOURCES orders.c fake_guest.c fake_programs.c cooperative.c
	LIBS ${run_libs}
	LINK_OPTIONS -Wl,--wrap=clock_gettime,--wrap=pthread_join
		-Wl,--wrap=pthread_cond_wait,--wrap=capsid__thread_start)
capsid_fuzz(threads CORPUS schedule
	SOURCES orders.c fake_guest.c fake_programs.c virtual_clock.c
	LIBS ${run_libs}
	LINK_OPTIONS -Wl,--wrap=clock_gettime,--wrap=pthread_getcpuclockid
		-Wl,--wrap=pthread_cond_timedwait)
# All of the library.
capsid_fuzz(engine CORPUS schedule SOURCES orders.c LIBS capsid-static)

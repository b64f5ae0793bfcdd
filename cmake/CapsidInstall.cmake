# What `make install` lays down: headers, both libraries, capsid.pc and the
# command, which finds its library beside itself. lib/ and not a multiarch
# folder: one layout on every machine, and PREFIX decides.
set(CMAKE_INSTALL_LIBDIR lib)
include(GNUInstallDirs)

configure_file(${CMAKE_SOURCE_DIR}/cmake/capsid.pc.in
	${CMAKE_BINARY_DIR}/capsid.pc @ONLY)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/capsid
	DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES ${CMAKE_BINARY_DIR}/capsid.pc
	DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(TARGETS capsid LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET capsid-static)
	install(TARGETS capsid-static
		ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(TARGET capsid-cli)
	set_target_properties(capsid-cli PROPERTIES
		INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
	install(TARGETS capsid-cli RUNTIME
		DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
# Whose the parts are. What a sanitizer sees is not for others.
set(CAPSID_NOTICES ${CMAKE_BINARY_DIR}/THIRD-PARTY-NOTICES)
if(NOT CAPSID_SANITIZE)
	capsid_notices(capsid-notices ${CAPSID_NOTICES}
		${CMAKE_BINARY_DIR}/notices.inputs "WASM;NATIVE")
	install(FILES ${CMAKE_SOURCE_DIR}/LICENSE ${CAPSID_NOTICES}
		DESTINATION ${CMAKE_INSTALL_DOCDIR})
endif()
# Found from the library: ../libexec/capsid/ (src/isolation/nursery_link.c).
foreach(guest capsid-guest capsid-guest-python capsid-guest-workerd
	capsid-guest-worker capsid-oci capsid-server)
	if(TARGET ${guest})
		install(TARGETS ${guest} RUNTIME
			DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/capsid)
	endif()
endforeach()
# Guests that are scripts.
install(DIRECTORY ${CMAKE_BINARY_DIR}/guests/node
	DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/capsid USE_SOURCE_PERMISSIONS)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/guest/perl
	DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/capsid USE_SOURCE_PERMISSIONS
	PATTERN "README.md" EXCLUDE)
if(TARGET capsid-local-worker)
	install(DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/capsid-workerd
		DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/capsid)
endif()

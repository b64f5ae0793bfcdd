# The package for Workers, in build/cloudflare/dist, and its tests in the real
# workerd. They run in npm's Node.js 24: wrangler wants 22, and a WebSocket
# with a header is not in 20.
file(GLOB cloudflare_node
	${CMAKE_CURRENT_SOURCE_DIR}/node_modules/node-linux-*/bin/node)
file(GLOB cloudflare_workerd ${CMAKE_CURRENT_SOURCE_DIR}/node_modules/@cloudflare/workerd-linux-*/bin/workerd)
if(NOT cloudflare_node OR NOT cloudflare_workerd)
	message(STATUS "adapters/cloudflare: npm gave no Node.js 24 or no "
		"workerd for this processor; the Workers are neither built "
		"nor tested (scripts/setup installs them)")
	return()
endif()
# npm runs no scripts here and keeps no modes
file(CHMOD ${cloudflare_node} ${cloudflare_workerd} PERMISSIONS
	OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
	WORLD_READ WORLD_EXECUTE)

set(cloudflare_dist ${cloudflare_wasm}/dist)
file(MAKE_DIRECTORY ${cloudflare_wasm}/scripts)
file(GLOB_RECURSE cloudflare_sources CONFIGURE_DEPENDS
	${CMAKE_CURRENT_SOURCE_DIR}/src/*.ts
	${CMAKE_SOURCE_DIR}/src/engine/quickjs/realm/js/*.js)
set(cloudflare_inputs ${cloudflare_wasm}/dist.inputs)
add_custom_command(OUTPUT ${cloudflare_dist}/index.js ${cloudflare_inputs}
	COMMAND ${cloudflare_node} ${CMAKE_CURRENT_SOURCE_DIR}/build.mjs
		${cloudflare_dist} ${cloudflare_wasm}
	DEPENDS ${cloudflare_sources} ${CMAKE_CURRENT_SOURCE_DIR}/build.mjs
		${CMAKE_SOURCE_DIR}/src/engine/quickjs/realm/core.js
		${CMAKE_SOURCE_DIR}/src/contract/messages.h
		${CMAKE_SOURCE_DIR}/src/contract/names.c
		${cloudflare_wasm}/strip.wasm ${cloudflare_wasm}/json.wasm
		${cloudflare_wasm}/quickjs.wasm ${cloudflare_wasm}/realm.wasm
		${cloudflare_wasm}/realm.bin
		${CMAKE_SOURCE_DIR}/src/engine/quickjs/wire.h
	COMMENT "cloudflare package" VERBATIM)
capsid_notices(capsid-cloudflare-notices
	${cloudflare_wasm}/THIRD-PARTY-NOTICES
	${cloudflare_wasm}/notices.inputs WASM ${cloudflare_inputs})
# The types, checked and written
add_custom_command(OUTPUT ${cloudflare_dist}/types/index.d.ts
	COMMAND ${cloudflare_node} node_modules/typescript/bin/tsc
	COMMAND ${cloudflare_node} node_modules/typescript/bin/tsc
		--project tsconfig.types.json --outDir ${cloudflare_dist}/types
	WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
	DEPENDS ${cloudflare_sources} tsconfig.json tsconfig.types.json
	COMMENT "cloudflare types" VERBATIM)
# `npm pack` in build/cloudflare makes the package
add_custom_command(OUTPUT ${cloudflare_wasm}/package.json
	COMMAND ${CMAKE_COMMAND} -E copy package.json README.md
		${CMAKE_SOURCE_DIR}/LICENSE ${cloudflare_wasm}
	COMMAND ${CMAKE_COMMAND} -E copy_if_different scripts/dsh-in-worker.mjs
		${cloudflare_wasm}/scripts/dsh-in-worker.mjs
	WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
	DEPENDS package.json README.md ${CMAKE_SOURCE_DIR}/LICENSE
		scripts/dsh-in-worker.mjs
	COMMENT "cloudflare package.json" VERBATIM)
add_custom_target(capsid-cloudflare ALL DEPENDS ${cloudflare_dist}/index.js
	${cloudflare_dist}/types/index.d.ts ${cloudflare_wasm}/package.json)
add_dependencies(capsid-cloudflare capsid-cloudflare-wasm)

# What is tested here is no native code: nothing for a sanitizer.
if(NOT CAPSID_SANITIZE)
	foreach(part attack conformance contract cost lifecycle machine package providers
			remote socket wrangler)
		add_test(NAME cloudflare.${part} COMMAND ${cloudflare_node}
			--test --test-reporter=tap --test-timeout=400000
			${CMAKE_CURRENT_SOURCE_DIR}/test/${part}.test.mjs)
		list(APPEND cloudflare_tests cloudflare.${part})
	endforeach()
	# The containers' processes stand beside workerd
	if(TARGET capsid-server)
		add_test(NAME cloudflare.container COMMAND ${cloudflare_node}
			--test --test-reporter=tap --test-timeout=200000
			${CMAKE_CURRENT_SOURCE_DIR}/test/container.test.mjs)
		add_test(NAME cloudflare.engine COMMAND ${cloudflare_node}
			--test --test-reporter=tap --test-timeout=200000
			${CMAKE_CURRENT_SOURCE_DIR}/test/engine.test.mjs)
		list(APPEND cloudflare_tests cloudflare.container
			cloudflare.engine)
	endif()
	set_tests_properties(${cloudflare_tests} PROPERTIES
		LABELS cloudflare TIMEOUT 600 ENVIRONMENT
		"CAPSID_WASM=${cloudflare_wasm};CAPSID_CLOUDFLARE=${cloudflare_dist};CAPSID_SERVER=${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/capsid-server")
	# They measure time and memory: not beside other tests.
	set_tests_properties(cloudflare.lifecycle cloudflare.conformance
		PROPERTIES RUN_SERIAL ON)
endif()

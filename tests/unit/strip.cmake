# The stripper natively: the same C that runs behind the wall.
capsid_unit(test_strip TORTURE LIBS capsid-strip-native capsid-strip-grammar
	capsid-base)
target_include_directories(test_strip PRIVATE
	${CAPSID_NPM}/tree-sitter/vendor/tree-sitter/lib/include)
target_compile_definitions(test_strip PRIVATE
	STRIP_CASES="${CMAKE_CURRENT_SOURCE_DIR}/strip")

capsid_unit(test_flatten LIBS capsid-strip-native capsid-strip-grammar
	capsid-base)
target_include_directories(test_flatten PRIVATE
	${CMAKE_BINARY_DIR}/src/strip/include
	${CAPSID_NPM}/tree-sitter/vendor/tree-sitter/lib/include)
target_compile_definitions(test_flatten PRIVATE
	STRIP_CASES="${CMAKE_CURRENT_SOURCE_DIR}/strip"
	STRIP_CORPUS="${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/strip"
	BENCH_PROGRAMS="${CMAKE_SOURCE_DIR}/bench/programs")

/*
 * engine/python: values to JSON and back, what is refused and where, any
 * depth, and no memory at every step.
 */
#include "python.h"

#include "torture.h"
#include "unit.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json/check.h"
#include "json/number.h"

static int encode(
	struct capsid__buf *out, struct capsid__buf *why, PyObject *value)
{
	uint64_t size = 0;
	int code = capsid__python_encode(
		out, &size, why, value, CAPSID__PYTHON_NO_LIMIT);

	if (code == 0)
		assert_int_equal(size, out->len);
	assert_null(PyErr_Occurred());
	return code;
}

static void gives(const char *expression, const char *text)
{
	struct capsid__buf out = { 0 };
	PyObject *value = python_eval(expression);

	assert_int_equal(encode(&out, NULL, value), 0);
	capsid__buf_append_byte(&out, '\0');
	assert_string_equal(out.data, text);
	capsid__buf_done(&out);
	Py_DECREF(value);
}

static void refuses(const char *expression, const char *why)
{
	struct capsid__buf out = { 0 }, said = { 0 };
	PyObject *value = python_eval(expression);

	assert_int_equal(encode(&out, &said, value), CAPSID_ELOSSY);
	capsid__buf_append_byte(&said, '\0');
	assert_string_equal(said.data, why);
	capsid__buf_done(&out);
	capsid__buf_done(&said);
	Py_DECREF(value);
}

static void scalars_are_compact_json(void **state)
{
	(void)state;
	gives("[None, True, False, 0, -7, 'x', '', [], {}]",
		"[null,true,false,0,-7,\"x\",\"\",[],{}]");
	gives("{'b': 1, 'a': {'c': [2]}}", "{\"b\":1,\"a\":{\"c\":[2]}}");
	gives("'\\x00\\x1f\"\\\\\\n\\u20ac\\U0001F600'",
		"\"\\u0000\\u001f\\\"\\\\\\n\xe2\x82\xac\xf0\x9f\x98\x80\"");
	gives("['\\ud800', '\\udc00\\ud800', '\\ud83d\\ude00']",
		"[\"\\ud800\",\"\\udc00\\ud800\",\"\xf0\x9f\x98\x80\"]");
}

static void floats_read_as_in_ecmascript_with_a_point(void **state)
{
	(void)state;
	gives("[1.0, -2.0, 0.0, 100.0]", "[1.0,-2.0,0.0,100.0]");
	gives("[1e20, 1e21, 123456789012345680000.0]",
		"[100000000000000000000.0,1e+21,123456789012345680000.0]");
	gives("[1e-6, 1e-7, 1.5e-9]", "[0.000001,1e-7,1.5e-9]");
	gives("[5e-324, 1.7976931348623157e308]",
		"[5e-324,1.7976931348623157e+308]");
	gives("[0.1 + 0.2, 1 / 3, -1234.5]",
		"[0.30000000000000004,0.3333333333333333,-1234.5]");
}

/* Every text is lossless JSON and means the very double. */
static void any_float_comes_back_as_itself(void **state)
{
	uint64_t bits = 88172645463325252u;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		struct capsid__buf out = { 0 };
		struct capsid__span text;
		double number;

		bits ^= bits << 13;
		bits ^= bits >> 7;
		bits ^= bits << 17;
		memcpy(&number, &bits, sizeof(number));
		if (!isfinite(number))
			continue;
		assert_true(capsid__python_float(&out, number));
		text = (struct capsid__span){ out.data, out.len };
		assert_int_equal(
			capsid__json_check(text, CAPSID__JSON_COMPACT, NULL),
			0);
		assert_true(capsid__json_double(text) == number);
		assert_non_null(strpbrk(
			(capsid__buf_append_byte(&out, '\0'), out.data), ".e"));
		capsid__buf_done(&out);
	}
}

static void ints_are_exact_or_refused(void **state)
{
	(void)state;
	gives("[2**53, -2**53, 2**63, 10**22, -2**100]",
		"[9007199254740992,-9007199254740992,9223372036854775808,"
		"10000000000000000000000,-1267650600228229401496703205376]");
	refuses("2**53 + 1", "$ is an int that a double cannot hold");
	refuses("-(2**53 + 1)", "$ is an int that a double cannot hold");
	refuses("10**23", "$ is an int that a double cannot hold");
	refuses("2**1024", "$ is an int that a double cannot hold");
	refuses("2**64 + 1", "$ is an int that a double cannot hold");
}

static void what_is_refused_is_named_with_its_place(void **state)
{
	(void)state;
	refuses("{'items': [1, {'when': {2}}]}", "$.items[1].when is a set");
	refuses("{'odd key': {'': (1,)}}", "$[\"odd key\"][\"\"] is a tuple");
	refuses("[{1: 2}]", "$[0] has a key that is an int");
	refuses("float('nan')", "$ is NaN");
	refuses("[-math.inf]", "$[0] is -Infinity");
	refuses("-0.0", "$ is -0.0");
	refuses("b''", "$ is a bytes");
	refuses("int", "$ is a class");
	refuses("len", "$ is a builtin_function_or_method");
	refuses("collections.OrderedDict()", "$ is an OrderedDict");
	refuses("enum.IntEnum('Color', 'RED').RED", "$ is a Color");
	refuses("type('S', (str,), {})()", "$ is a S");
	refuses("{type('S', (str,), {})('k'): 1}", "$ has a key that is a S");
	refuses("(lambda a: a.append([a]) or a)([])",
		"$[0][0] is a circular reference");
	refuses("{'x' * 100: {1}}",
		"$["
		"\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
		"xxxx...\"] is a set");
}

static void a_long_path_is_cut_in_its_middle(void **state)
{
	(void)state;
	refuses("__import__('functools').reduce(lambda v, i: [v], range(100), "
		"{1})",
		"$[0][0][0][0][0][0][0][0]...[0][0][0][0][0][0][0][0] is a "
		"set");
}

static void what_is_seen_twice_is_no_cycle(void **state)
{
	(void)state;
	gives("(lambda a: [a, a, {'x': a}])([1])", "[[1],[1],{\"x\":[1]}]");
}

/* As JSON and back, at a depth at which any recursion would end the test. */
static void depth_is_bounded_by_memory_alone(void **state)
{
	const size_t depth = 300000;
	struct capsid__buf out = { 0 };
	PyObject *value, *back;

	(void)state;
	value = PyUnicode_FromString("leaf");
	for (size_t i = 0; i < depth; i++) {
		PyObject *outer = i % 2 ? PyList_New(1) : PyDict_New();

		if (i % 2) {
			PyList_SET_ITEM(outer, 0, value);
		} else {
			PyDict_SetItemString(outer, "k", value);
			Py_DECREF(value);
		}
		value = outer;
	}
	assert_int_equal(encode(&out, NULL, value), 0);
	assert_int_equal(out.len, 6 + depth / 2 * 2 + depth / 2 * 6);
	Py_DECREF(value);
	back = capsid__python_decode(
		(struct capsid__span){ out.data, out.len });
	assert_non_null(back);
	for (size_t i = depth; i-- > 0;) {
		PyObject *inner = i % 2 ? PyList_GetItem(back, 0)
					: PyDict_GetItemString(back, "k");

		assert_non_null(inner);
		Py_INCREF(inner);
		Py_DECREF(back);
		back = inner;
	}
	assert_int_equal(PyUnicode_CompareWithASCIIString(back, "leaf"), 0);
	Py_DECREF(back);
	capsid__buf_done(&out);
}

static void what_is_over_the_limit_is_counted_and_not_kept(void **state)
{
	PyObject *value = python_eval("['x' * 1000, 2]");
	struct capsid__buf out = { 0 }, why = { 0 };
	uint64_t size = 0;

	(void)state;
	assert_int_equal(
		capsid__python_encode(&out, &size, &why, value, 100), 0);
	assert_int_equal(size, 1006);
	assert_true(out.len <= 100);
	Py_DECREF(value);
	value = python_eval("['x' * 1000, {2}]");
	assert_int_equal(capsid__python_encode(&out, &size, &why, value, 100),
		CAPSID_ELOSSY);
	Py_DECREF(value);
	capsid__buf_done(&out);
	capsid__buf_done(&why);
}

/* JSON text against the Python expression that it must equal, types and all. */
static void means(const char *text, const char *expression)
{
	PyObject *value = capsid__python_decode(capsid__span_of(text));
	PyObject *wanted = python_eval(expression);
	PyObject *is, *should;

	assert_non_null(value);
	is = PyObject_Repr(value);
	should = PyObject_Repr(wanted);
	assert_string_equal(PyUnicode_AsUTF8(is), PyUnicode_AsUTF8(should));
	Py_DECREF(is);
	Py_DECREF(should);
	Py_DECREF(value);
	Py_DECREF(wanted);
}

static void text_becomes_the_value_that_it_means(void **state)
{
	(void)state;
	means("[null,true,false,{},[],\"\"]",
		"[None, True, False, {}, [], '']");
	means(" { \"a\" : [ 1 , 2 ] , \"b\" : null } ",
		"{'a': [1, 2], 'b': None}");
	means("[5,5.0,-5,5e0,1E2,0,1e-3]",
		"[5, 5.0, -5, 5.0, 100.0, 0, 0.001]");
	means("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\"",
		"'\"\\\\/\\b\\f\\n\\r\\tA\\u00e9'");
	means("\"\\ud83d\\ude00\\ud800x\\udc00\\ud800\\u0041\"",
		"'\\U0001F600\\ud800x\\udc00\\ud800A'");
	means("{\"a\":1,\"b\":2,\"a\":3}", "{'a': 3, 'b': 2}");
	means("9007199254740992", "2**53");
	means("123456789012345680000", "int(123456789012345680000.0)");
	means("100000000000000000000000", "int(1e23)");
	means("1234567890123456800", "int(1234567890123456800.0)");
}

static void text_that_is_cut_is_an_error_and_nothing_more(void **state)
{
	static const char text[] =
		"{\"a\":[1,2.5,\"x\\u00e9\\ud83d\\ude00\",{\"b\":null}],\"c\":"
		"true}";

	(void)state;
	for (size_t len = 0; len < sizeof(text) - 1; len++) {
		/* a copy of that very length, so that a sanitizer sees more */
		char *cut = malloc(len + 1);
		PyObject *value;

		memcpy(cut, text, len);
		value = capsid__python_decode(
			(struct capsid__span){ cut, len });
		assert_null(value);
		assert_non_null(PyErr_Occurred());
		PyErr_Clear();
		free(cut);
	}
}

static void no_memory_is_reported_and_leaks_nothing(void **state)
{
	PyObject *value = python_eval("{'a': [1.5, 2**70, '\\u20ac' * 50, "
				      "[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]"
				      "]]}");
	size_t live = torture_live();
	int code = CAPSID_ENOMEM;

	(void)state;
	for (size_t nth = 1; code != 0; nth++) {
		struct capsid__buf out = { 0 };
		uint64_t size;

		torture_fail_at(nth);
		code = capsid__python_encode(
			&out, &size, NULL, value, CAPSID__PYTHON_NO_LIMIT);
		assert_true(code == 0 || code == CAPSID_ENOMEM);
		assert_int_equal(code == 0, !torture_has_failed());
		torture_fail_at(0);
		capsid__buf_done(&out);
		assert_int_equal(torture_live(), live);
	}
	Py_DECREF(value);
}

static void a_reply_without_memory_is_a_memory_error(void **state)
{
	struct capsid__span text = capsid__span_of(
		"[[[[[[[[[[[[[[[[[[[[\"\\u20ac\\n\"]]]]]]]]]]]]]"
		"]]]]]]]");
	size_t live = torture_live();
	PyObject *value = NULL;

	(void)state;
	for (size_t nth = 1; value == NULL; nth++) {
		torture_fail_at(nth);
		value = capsid__python_decode(text);
		assert_int_equal(value != NULL, !torture_has_failed());
		torture_fail_at(0);
		if (value == NULL)
			assert_true(PyErr_ExceptionMatches(PyExc_MemoryError));
		PyErr_Clear();
		assert_int_equal(torture_live(), live);
	}
	Py_DECREF(value);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scalars_are_compact_json),
		cmocka_unit_test(floats_read_as_in_ecmascript_with_a_point),
		cmocka_unit_test(any_float_comes_back_as_itself),
		cmocka_unit_test(ints_are_exact_or_refused),
		cmocka_unit_test(what_is_refused_is_named_with_its_place),
		cmocka_unit_test(a_long_path_is_cut_in_its_middle),
		cmocka_unit_test(what_is_seen_twice_is_no_cycle),
		cmocka_unit_test(depth_is_bounded_by_memory_alone),
		cmocka_unit_test(
			what_is_over_the_limit_is_counted_and_not_kept),
		cmocka_unit_test(text_becomes_the_value_that_it_means),
		cmocka_unit_test(text_that_is_cut_is_an_error_and_nothing_more),
		cmocka_unit_test(no_memory_is_reported_and_leaks_nothing),
		cmocka_unit_test(a_reply_without_memory_is_a_memory_error),
	};

	return cmocka_run_group_tests(tests, python_setup, NULL);
}

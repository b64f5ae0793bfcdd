/*
 * What is random in one run is not so in the next: the children of a zygote are
 * copies of one process, and whatever was seeded in it is seeded alike in all.
 */
#include "process.h"
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Imported ahead, in the zygote: it draws from all that keeps a state. */
static const char ahead[] = "import random, sqlite3, ssl, tempfile, uuid\n"
			    "ssl.RAND_bytes(8)\n"
			    "random.random()\n"
			    "next(tempfile._get_candidate_names())\n"
			    "uuid.uuid1()\n"
			    "db = sqlite3.connect(':memory:')\n"
			    "db.execute('select random()').fetchone()\n";

static const struct {
	const char *name, *text;
} python[] = {
	{ "random", "import random\nreturn random.random().hex()" },
	{ "an instance",
		"import random\nreturn random.Random().random().hex()" },
	{ "shuffle", "import random\nx = list(range(25))\nrandom.shuffle(x)\n"
		     "return ''.join(chr(97 + i) for i in x)" },
	{ "secrets", "import secrets\nreturn secrets.token_hex(8)" },
	{ "urandom", "import os\nreturn os.urandom(8).hex()" },
	{ "uuid4", "import uuid\nreturn uuid.uuid4().hex" },
	{ "uuid1", "import uuid\nreturn uuid.uuid1().hex" },
	{ "OpenSSL", "import ssl\nreturn ssl.RAND_bytes(8).hex()" },
	{ "tempfile", "import tempfile\n"
		      "return next(tempfile._get_candidate_names())" },
	{ "mkstemp", "import tempfile\nreturn tempfile.mkstemp()[1]" },
	{ "SQLite", "import sqlite3\n"
		    "db = sqlite3.connect(':memory:')\n"
		    "return str(db.execute('select random()').fetchone()[0])" },
	{ "arc4random", "import ctypes\nlibc = ctypes.CDLL(None)\n"
			"return hex(libc.arc4random() & 0xffffffff) + "
			"hex(libc.arc4random() & 0xffffffff)" },
};

static const struct {
	const char *name, *text;
} javascript[] = {
	{ "Math.random", "return String(Math.random())" },
	{ "getRandomValues", "return crypto.getRandomValues(new Uint8Array(8))"
			     ".join()" },
	{ "randomUUID", "return crypto.randomUUID()" },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Several runs, for some are made ahead by one and some by another. */
#define RUNS 4

static void all_differ(
	capsid_runtime *runtime, const char *name, const char *text)
{
	struct outcome out[RUNS];

	for (int i = 0; i < RUNS; i++) {
		run_program(&out[i], runtime, text, NULL);
		assert_string_equal(out[i].message, "");
		assert_true(strlen(out[i].value) > 6);
		for (int j = 0; j < i; j++) {
			if (strcmp(out[i].value, out[j].value) == 0)
				fail_msg("%s: %s twice", name, out[i].value);
		}
	}
}

static void write_ahead(char *folder, size_t size)
{
	char path[600];
	FILE *file;

	assert_non_null(getcwd(folder, size));
	strcat(folder, "/seeds.tmp");
	assert_true(mkdir(folder, 0755) == 0 || errno == EEXIST);
	snprintf(path, sizeof(path), "%s/drawn.py", folder);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(ahead, file);
	assert_int_equal(fclose(file), 0);
}

/* With a module that has drawn in the zygote, and without. */
static void nothing_random_is_common_to_two_runs_of_python(void **state)
{
	char folder[512];
	const char *paths[] = { folder, NULL }, *drawn[] = { "drawn", NULL };
	capsid_config config = config_of(false);
	capsid_runtime *runtime;

	(void)state;
	write_ahead(folder, sizeof(folder) - 16);
	config.language = "python";
	for (int turn = 0; turn < 2; turn++) {
		runtime = runtime_of(&config);
		for (size_t i = 0; i < COUNT(python); i++)
			all_differ(runtime, python[i].name, python[i].text);
		capsid_runtime_free(runtime);
		config.module_paths = paths;
		config.preload = drawn;
	}
}

/* What a module keeps for itself, and cannot know that it is a copy. */
static void a_state_of_before_goes_on_differently(void **state)
{
	char folder[512];
	const char *paths[] = { folder, NULL }, *drawn[] = { "drawn", NULL };
	capsid_config config = config_of(false);
	capsid_runtime *runtime;

	(void)state;
	write_ahead(folder, sizeof(folder) - 16);
	config.language = "python";
	config.module_paths = paths;
	config.preload = drawn;
	runtime = runtime_of(&config);
	all_differ(runtime, "a database of the zygote's",
		"import drawn\n"
		"return str(drawn.db.execute('select "
		"random()').fetchone()[0])");
	capsid_runtime_free(runtime);
}

/* Common to the children of one zygote, as SECURITY.md says; another runtime
 * has another. */
static void the_hash_seed_is_of_one_runtime(void **state)
{
	static const char text[] = "return str(hash('capsid'))";
	capsid_config config = config_of(false);
	struct outcome out[2];

	(void)state;
	config.language = "python";
	for (int i = 0; i < 2; i++) {
		capsid_runtime *runtime = runtime_of(&config);

		run_program(&out[i], runtime, text, NULL);
		assert_string_equal(out[i].message, "");
		capsid_runtime_free(runtime);
	}
	assert_string_not_equal(out[0].value, out[1].value);
}

static void nothing_random_is_common_to_two_runs_of_javascript(void **state)
{
	const char *const isolations[] = { "worker-thread", "process" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		capsid_config config = config_of(false);
		capsid_runtime *runtime;

		config.isolation = isolations[i];
		runtime = runtime_of(&config);
		for (size_t j = 0; j < COUNT(javascript); j++)
			all_differ(runtime, javascript[j].name,
				javascript[j].text);
		capsid_runtime_free(runtime);
	}
}

int main(void)
{
	static const struct CMUnitTest all[] = {
		cmocka_unit_test(
			nothing_random_is_common_to_two_runs_of_python),
		cmocka_unit_test(a_state_of_before_goes_on_differently),
		cmocka_unit_test(the_hash_seed_is_of_one_runtime),
		cmocka_unit_test(
			nothing_random_is_common_to_two_runs_of_javascript),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}

/*
 * The commands of `--bind`: a run that ends leaves every descriptor that is not
 * theirs alone, with more calls in the queue than commands may run at once.
 */
#include "unit.h"

#include "cli/commands.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void calls_that_never_began_close_nothing(void **state)
{
	static const char program[] = "for (let i = 0; i < 200; i++)\n"
				      "	t.wait(i).catch(() => {})\n"
				      "return 1";
	struct capsid__cli_bind bind = { (char[]){ "t" }, "wait", 4,
		"exec sleep 60" };
	struct capsid__cli_options options = { .binds = &bind,
		.bind_count = 1 };
	struct capsid__cli_commands *commands;
	capsid_request request = CAPSID_REQUEST_INIT;
	capsid_runtime *runtime;
	capsid_result *result;
	struct stat before, after;

	(void)state;
	/* whatever the test was started with */
	assert_true(dup2(open("/dev/null", O_RDONLY), 0) == 0);
	assert_int_equal(fstat(0, &before), 0);
	assert_int_equal(capsid_runtime_new(&runtime, NULL, NULL), 0);
	assert_int_equal(
		capsid__cli_commands_new(&commands, &options, NULL), 0);
	assert_int_equal(capsid__cli_commands_bindings(
				 &request.bindings, commands, NULL),
		0);
	request.program = program;
	request.program_len = strlen(program);
	assert_int_equal(capsid_run(&result, runtime, &request, NULL), 0);
	assert_string_equal(
		capsid_result_json(result, NULL), "{\"value\":1,\"logs\":[]}");
	capsid__cli_commands_free(commands);
	assert_int_equal(fstat(0, &after), 0);
	assert_int_equal(after.st_ino, before.st_ino);
	capsid_result_free(result);
	capsid_bindings_unref(request.bindings);
	capsid_runtime_free(runtime);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_that_never_began_close_nothing),
	};

	return cmocka_run_group_tests_name("commands", tests, NULL, NULL);
}

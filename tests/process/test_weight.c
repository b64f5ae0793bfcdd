/*
 * What a guest's memory weighs where there is no cgroup. The guest is Perl,
 * which can make every system call. The same text first runs outside and has
 * the memory that it asks for.
 */
#include "process.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define HEAP_MB 64

/* Shared memory without a name: 16 times 64 MiB, each filled by a read. It
 * says how much it had. */
#define SHARED(forget)                                         \
	"my ($size, $had) = (64 << 20, 0);\n"                  \
	"sysopen(my $zeros, '/dev/full', 0) or return -1;\n"   \
	"for my $i (1..16) {\n"                                \
	"  my $at = syscall(9, 0, $size, 3, 0x21, -1, 0);\n"   \
	"  last if $at == -1;\n"                               \
	"  for (my $n = 0; $n < $size; $n += 1 << 20) {\n"     \
	"    syscall(0, fileno($zeros), $at + $n, 1 << 20);\n" \
	"  }\n" forget "  $had += 64;\n"                       \
	"}\n"                                                  \
	"select(undef, undef, undef, 0.2);\n"                  \
	"return $had;\n"

static const char shared[] = SHARED("");
/* … it is not resident any more, and held. */
static const char forgotten[] = SHARED("  syscall(28, $at, $size, 4);\n");
/* … or mapped but for one page, which holds all. */
static const char unmapped[] =
	SHARED("  syscall(11, $at + 4096, $size - 4096);\n");

/* One page that is only read in each GiB: two tables for every page of zeros,
 * and nothing else. 40,000 are 312 MiB. */
static const char tables[] =
	"my $have = 0;\n"
	"for my $i (1..40000) {\n"
	"  my $at = syscall(9, (1 << 44) + ($i << 30), 4096, 1,\n"
	"    0x100022, -1, 0);\n"
	"  last if $at == -1;\n"
	"  unpack('P1', pack('Q', $at));\n"
	"  $have++;\n"
	"}\n"
	"select(undef, undef, undef, 0.2);\n"
	"return $have;\n";

/* Outside: what the text returns. */
static long had_outside(const char *text)
{
	char value[32] = "";
	int ends[2], status = 1;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		char *program = NULL;

		if (asprintf(&program, "print sub {\n%s}->();", text) < 0 ||
			dup2(ends[1], STDOUT_FILENO) < 0)
			_exit(1);
		execlp("perl", "perl", "-e", program, NULL);
		_exit(1);
	}
	close(ends[1]);
	assert_true(read(ends[0], value, sizeof(value) - 1) > 0);
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	return strtol(value, NULL, 10);
}

static void run_inside(
	struct outcome *out, const char *sandbox, const char *text)
{
	capsid_config config = config_of(false);
	capsid_runtime *runtime;

	config.guest_path = NULL;
	config.guest = PERL_GUEST;
	config.language = "perl";
	config.sandbox = sandbox;
	config.max_heap_mb = HEAP_MB;
	runtime = runtime_of(&config);
	run_program(out, runtime, text, NULL);
	capsid_runtime_free(runtime);
}

static void too_heavy(const char *sandbox, const char *text)
{
	struct outcome out;

	run_inside(&out, sandbox, text);
	assert_string_equal(out.message, "out of memory: heap limit 64 MiB");
	assert_string_equal(out.kind, "worker-exit");
}

static void shared_memory_cannot_be_made(void **state)
{
	const char *const texts[] = { shared, forgotten, unmapped };
	struct outcome out;

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(had_outside(texts[i]), 1024);
		run_inside(&out, "cgroup=off", texts[i]);
		assert_string_equal(out.message, "");
		assert_string_equal(out.value, "0");
	}
}

static void shared_memory_is_weighed(void **state)
{
	(void)state;
	too_heavy("cgroup=off,seccomp=off", shared);
}

static void tables_of_pages_are_weighed(void **state)
{
	(void)state;
	assert_int_equal(had_outside(tables), 40000);
	too_heavy("cgroup=off", tables);
}

/* What it may have in /tmp is no heap, mapped or not. */
static void files_of_tmp_weigh_nothing(void **state)
{
	static const char program[] =
		"open(my $file, '+>', '/tmp/x') or return 0;\n"
		"print $file 'x' x (50 << 20);\n"
		"$file->flush();\n"
		"my $at = syscall(9, 0, 50 << 20, 3, 1, fileno($file), 0);\n"
		"return 0 if $at == -1;\n"
		"sysopen(my $zeros, '/dev/full', 0) or return 0;\n"
		"for my $i (0..49) {\n"
		"  syscall(0, fileno($zeros), $at + ($i << 20), 1 << 20);\n"
		"}\n"
		"my $heap = 'y' x (80 << 20);\n"
		"my $i = 0;\n"
		"$i++ while $i < 3000000;\n"
		"select(undef, undef, undef, 0.1);\n"
		"return length($heap) >> 20;\n";
	struct outcome out;

	(void)state;
	run_inside(&out, "cgroup=off", program);
	assert_string_equal(out.message, "");
	assert_string_equal(out.value, "80");
}

int main(void)
{
	static const struct CMUnitTest all[] = {
		cmocka_unit_test(shared_memory_cannot_be_made),
		cmocka_unit_test(shared_memory_is_weighed),
		cmocka_unit_test(tables_of_pages_are_weighed),
		cmocka_unit_test(files_of_tmp_weigh_nothing),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}

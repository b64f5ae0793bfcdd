/*
 * Asks a peer (bench/peer/NAME, under Node) to run a program many times. The
 * program goes in a file; one line of figures comes back.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool write_all(int fd, const char *text)
{
	size_t len = strlen(text);

	return write(fd, text, len) == (ssize_t)len;
}

bool peer_measure(struct row *row, const char *script, const char *program,
	int64_t runs, int concurrency)
{
	char file[] = "/tmp/capsid-bench-XXXXXX";
	char command[1024];
	double per_second = 0;
	int fd = mkstemp(file), found = 0;
	FILE *pipe;

	if (fd < 0 || !write_all(fd, program))
		give_up("cannot write %s", file);
	close(fd);
	snprintf(command, sizeof(command), "exec '%s' '%s/peer/%s' %s %lld %d",
		BENCH_NODE, BENCH_DIR, script, file, (long long)runs,
		concurrency);
	pipe = popen(command, "r");
	if (pipe != NULL) {
		found = fscanf(pipe, "%lf %lf %lf", &row->p50_us, &row->p99_us,
			&per_second);
		if (pclose(pipe) != 0)
			found = 0;
	}
	unlink(file);
	if (found != 3) {
		fprintf(stderr, "bench: the peer %s did not run\n", script);
		return false;
	}
	if (row->extra_name != NULL)
		row->extra = per_second;
	return true;
}

/*
 * What a machine gives, found by doing it: a process prepares a sandbox, tries
 * a child in it, and sends home what became of each layer.
 */
#include "sandbox/sandbox.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

struct answer {
	int32_t code;
	struct capsid__layer_status status;
	capsid_error error;
};

__attribute__((noreturn)) static void probe(
	const struct capsid__sandbox_plan *plan, int home)
{
	struct capsid__sandbox *sandbox;
	struct answer answer = { 0 };

	answer.code =
		capsid__sandbox_prepare(&sandbox, plan, -1, &answer.error);
	if (answer.code == CAPSID_OK) {
		answer.code = capsid__sandbox_trial(sandbox, &answer.error);
		answer.status = *capsid__sandbox_status(sandbox);
	}
	_exit(write(home, &answer, sizeof(answer)) != sizeof(answer));
}

int capsid__sandbox_probe(struct capsid__layer_status *out,
	const struct capsid__sandbox_plan *plan, capsid_error *err)
{
	struct capsid__sandbox_plan wanted = *plan;
	struct answer answer;
	int ends[2];
	ssize_t n;
	pid_t pid;

	for (int i = 0; i < CAPSID__LAYERS; i++) {
		if (wanted.levels.of[i] == CAPSID__LEVEL_REQUIRED)
			wanted.levels.of[i] = CAPSID__LEVEL_WANTED;
	}
	if (pipe2(ends, O_CLOEXEC) != 0)
		return capsid__error_system(err, "a pipe for the probe");
	pid = fork();
	if (pid == 0)
		probe(&wanted, ends[1]);
	close(ends[1]);
	do
		n = read(ends[0], &answer, sizeof(answer));
	while (n < 0 && errno == EINTR);
	close(ends[0]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	if (pid < 0 || n != sizeof(answer))
		return capsid__error_set(err, CAPSID_ESYS,
			"the probe of the sandbox ended without an answer");
	*out = answer.status;
	if (answer.code != CAPSID_OK)
		return capsid__error_set(
			err, CAPSID_ESYS, "%s", answer.error.message);
	return CAPSID_OK;
}

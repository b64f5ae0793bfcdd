/*
 * A guest that is none, for container.test.mjs: its language says what it does
 * in place of serving.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void say(int fd, const char *text)
{
	if (write(fd, text, strlen(text)) < 0)
		_exit(1);
}

/* Whether this user may open a file to read and write it, in this place. */
static void try_to_open(const char *path)
{
	const char *why = NULL;
	int fd = open(path, O_RDWR | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		why = strerrorname_np(errno);
	say(2, path);
	say(2, fd >= 0 ? "=opened " : "=");
	if (fd < 0) {
		say(2, why != NULL ? why : "refused");
		say(2, " ");
	}
}

static void try_all(int count, char **paths)
{
	static char *const usual[] = { "/disk", "/null", "/closed/disk" };

	for (int i = 0; i < 3 && count == 0; i++)
		try_to_open(usual[i]);
	for (int i = 0; i < count; i++)
		try_to_open(paths[i]);
}

static void say_where(void)
{
	char path[4096];

	say(2, getcwd(path, sizeof(path)) != NULL ? path : "nowhere");
}

int main(int argc, char **argv)
{
	const char *language = getenv("CAPSID_LANGUAGE");

	if (language == NULL)
		return 1;
	if (strcmp(language, "opens") == 0)
		try_all(argc - 1, argv + 1);
	if (strcmp(language, "is-where") == 0)
		say_where();
	/* words that are a runtime's to say */
	if (strcmp(language, "blames-the-cgroup") == 0)
		say(2, "no cgroup can be made here\n");
	/* ready, and gone when it is wanted */
	if (strcmp(language, "ends-early") == 0) {
		say(3, "{\"type\":\"boot-ack\",\"protocol\":1,"
		       "\"language\":\"ends-early\"}\n");
		usleep(100000);
	}
	return 1;
}

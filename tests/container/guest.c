/*
 * A guest that is none, for container.test.mjs: its language says what it does
 * in place of serving.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void say(int fd, const char *text)
{
	if (write(fd, text, strlen(text)) < 0)
		_exit(1);
}

int main(void)
{
	const char *language = getenv("CAPSID_LANGUAGE");

	if (language == NULL)
		return 1;
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

/*
 * boot, boot-ack, run: then the program has the process. Whatever is not as
 * it should be ends it; the host sees the port close.
 */
#include "guest/child.h"

/* EX_PROTOCOL of sysexits: the host is gone or speaks something else. */
#define STATUS_NO_HOST 76
#define STATUS_NO_MEMORY 71

int capsid__child_serve(int fd, const char *language)
{
	struct capsid__guest_port *port = capsid__guest_port_new(fd);
	struct capsid__guest_message boot, run;

	if (port == NULL)
		return STATUS_NO_MEMORY;
	if (capsid__guest_port_next(&boot, port, true) != CAPSID__GUEST_GOT ||
		boot.type != CAPSID__GUEST_BOOT ||
		!capsid__guest_port_boot_ack(port, language))
		return STATUS_NO_HOST;
	if (capsid__guest_engine.warm != NULL &&
		!capsid__guest_engine.warm(&boot))
		return STATUS_NO_MEMORY;
	if (capsid__guest_port_next(&run, port, true) != CAPSID__GUEST_GOT ||
		run.type != CAPSID__GUEST_RUN)
		return STATUS_NO_HOST;
	return capsid__guest_engine.run(port, &boot, &run);
}

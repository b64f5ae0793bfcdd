/*
 * Lines that look like the command's own. A program, a file's name or a
 * server's message may hold the text `capsid: exception: …`; it is shown with
 * its colon as an escape, so that a line which begins with `capsid:` is ours.
 */
#ifndef CAPSID_CLI_FORGED_H
#define CAPSID_CLI_FORGED_H

#include <stdbool.h>
#include <stddef.h>

/* How many bytes are in front of the colon, if the text begins with what a
 * person or a script reads as `capsid:`; else 0. For a text that is shown with
 * escapes. */
size_t capsid__cli_forged(const char *text, size_t len);

/* The same for a line that is written as it is: behind spaces, and with what is
 * not drawn anywhere. Takes time with the line's length. */
size_t capsid__cli_forged_line(const char *text, size_t len);

/* Whether a line begins behind the character, for whoever reads lines: CR, the
 * line separators of Unicode and those of Python count too. `text` is not at
 * its end; *step is the character's length. */
bool capsid__cli_ends_line(const char *text, size_t len, size_t *step);

#endif

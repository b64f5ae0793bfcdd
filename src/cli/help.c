/*
 * The help texts. The exit statuses and the rules of `--bind` are told here
 * and nowhere else for a user.
 */
#include "cli/cli.h"

#include <string.h>

static const char overview[] =
	"capsid runs a program that a language model wrote, in a world of its\n"
	"own, with the functions that you give it and nothing else.\n"
	"\n"
	"usage: capsid COMMAND [OPTION]... FILE\n"
	"\n"
	"  run      run a program and print its value as JSON\n"
	"  strip    print the JavaScript of a TypeScript program\n"
	"  doctor   which walls this machine can put around a program\n"
	"  help     more about a command: capsid help run\n"
	"\n"
	"  --help, --version\n";

static const char run[] =
	"usage: capsid run [OPTION]... FILE\n"
	"\n"
	"Runs FILE (- is standard input), the body of an async function: "
	"await\n"
	"and return work at the top. Its logs go to standard error as they\n"
	"happen, the value that it returns to standard output as one line of\n"
	"JSON. A failure is a line `capsid: KIND: MESSAGE` on standard error;\n"
	"a log's line that looks like one is shown as `capsid\\x3a KIND`. On "
	"a\n"
	"terminal and in messages, characters that move the cursor, change "
	"the\n"
	"order of text or cannot be seen are shown as \\x1b or \\u{202e}.\n"
	"\n"
	"  --language typescript|javascript|python  default: by the name of\n"
	"                      FILE: javascript for .js .mjs .cjs, python for\n"
	"                      .py, else typescript\n"
	"  --isolation worker-thread|process|container|workerd|worker\n"
	"                      where the program\n"
	"                      lives; default worker-thread, for python "
	"process\n"
	"  --image DIR         container: its root file system, a directory "
	"or an\n"
	"                      OCI image layout; default: this machine's own "
	"guest\n"
	"  --oci-runtime NAME  container: crun, runc, runsc, kata-runtime or "
	"a\n"
	"                      path; default: the first of these that works\n"
	"  --guest PATH        an executable that speaks Capsid's guest "
	"protocol\n"
	"                      runs the program, in a sandbox; the language "
	"is\n"
	"                      then what --language says, or FILE's extension\n"
	"  --worker-url URL    worker: wss://… or ws://…, the Worker's /run\n"
	"  --worker-token-file FILE  worker: holds its token; default: the\n"
	"                      environment's CAPSID_WORKER_TOKEN\n"
	"  --bind NS.FN=COMMAND  gives the program a function, see below\n"
	"  --error-class NS=CLASS:PROPERTY  failed calls of NS are instances\n"
	"                      of CLASS, with the function's name in PROPERTY\n"
	"  --compute-ms N      busy CPU time, default 60000\n"
	"  --wall-ms N         time on the clock, default 600000\n"
	"  --output-bytes N    cap of logs and value as JSON, default "
	"67108864\n"
	"  --argument-bytes N  one call's argument as JSON, default 16777216\n"
	"  --heap-mb N         the program's memory, 8 to 3584, default 512\n"
	"  --erasable-only     refuse enum, namespace and parameter "
	"properties\n"
	"  --json              print the whole result as one line of JSON on\n"
	"                      standard output, and nothing else anywhere\n"
	"\n"
	"A first line #! is skipped. Options may stand behind FILE; -- ends\n"
	"them. --option VALUE and --option=VALUE are the same.\n"
	"\n"
	"Functions\n"
	"  --bind tools.search='grep -rc TODO src | wc -l' makes the "
	"program's\n"
	"  `await tools.search(argument)` run the command in /bin/sh, with "
	"the\n"
	"  argument as JSON on its standard input; what it prints on standard\n"
	"  output is the result and must be JSON. NS ends at the first dot, "
	"FN\n"
	"  at the first = behind it; FN may be any other text. An exit status\n"
	"  other than 0 rejects the call with what the command wrote on\n"
	"  standard error. Calls run at the same time, up to 128 commands; a\n"
	"  command's background processes end with it, and all commands end\n"
	"  with the run. The command is yours and is not sandboxed: quote "
	"what\n"
	"  comes from the program, and never eval it.\n"
	"\n"
	"Exit status\n"
	"  0 success; 1 the program failed (exception, invalid-output,\n"
	"  output-limit); 2 wrong usage; 124 timeout; 125 capsid itself "
	"failed;\n"
	"  130 abort; 137 worker-exit (out of memory, process.exit).\n"
	"  ^C and SIGTERM abort the run; a second one ends capsid at once.\n";

static const char strip[] =
	"usage: capsid strip [--erasable-only] FILE\n"
	"\n"
	"Prints the JavaScript of a TypeScript program; - is standard input.\n"
	"Every position of the source is the same in the output. A text with\n"
	"syntax errors passes as it is: the engine reports them better.\n"
	"\n"
	"  --erasable-only     refuse enum, namespace and parameter "
	"properties\n"
	"\n"
	"Exit status\n"
	"  0 success; 1 refused by --erasable-only; 2 wrong usage; 125 capsid\n"
	"  itself failed.\n";

static const char doctor[] =
	"usage: capsid doctor [--plan] [--json] [--language LANGUAGE]\n"
	"                     [--isolation process|container] "
	"[--heap-mb N]\n"
	"                     [--image DIR] [--oci-runtime NAME] "
	"[--guest PATH]\n"
	"\n"
	"Tries every layer of the sandbox that --isolation process puts "
	"around\n"
	"a program, in processes that are gone afterwards, and prints a line "
	"for\n"
	"each: ok or missing, its level, and for a missing one why and what "
	"to\n"
	"do. Without a required layer no program is run; without a wanted "
	"one\n"
	"it is. With --isolation container it has each OCI runtime make a\n"
	"container and prints a line for each.\n"
	"\n"
	"  --plan              print what the sandbox will be: files, limits,\n"
	"                      system calls; nothing is tried. Of a container "
	"the\n"
	"                      config.json of its OCI bundle\n"
	"  --language python|typescript|javascript   default: python\n"
	"  --guest PATH        … or of a guest of your own\n"
	"  --heap-mb N         the program's memory, default 512\n"
	"  --json              one line of JSON\n"
	"\n"
	"Exit status\n"
	"  0 every required layer is there; 1 one is missing, or the "
	"language\n"
	"  that was asked for; 2 wrong usage; 125 capsid itself failed.\n";

const char *capsid__cli_help(const char *topic)
{
	if (topic == NULL || strcmp(topic, "help") == 0)
		return overview;
	if (strcmp(topic, "run") == 0)
		return run;
	if (strcmp(topic, "strip") == 0)
		return strip;
	if (strcmp(topic, "doctor") == 0)
		return doctor;
	return NULL;
}

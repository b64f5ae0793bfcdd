/*
 * Programs of fake guests, and how each may end.
 */
#include "fake_guest.h"

const struct program fake_programs[] = {
	{ "v", VALUE, "1" },
	{ "cwa", VALUE | EXCEPTION, NULL },
	{ "cccwwwv", VALUE, "1" },
	{ "tv", VALUE, "1" },
	{ "s", 0, NULL },
	{ "lx", EXCEPTION, NULL },
	{ "X", EXIT, NULL },
	{ "eeeeeeeeeeeeeeeeeeeev", VALUE, "1" },
	{ "H", EXIT, NULL },
	{ "ycwv", VALUE, "1" },
	{ "crtwa", VALUE | EXCEPTION, NULL },
	{ "cv", VALUE, "1" },
	{ "S", 0, NULL },
	{ "pcpv", VALUE, "1" },
	{ "D", HOST, NULL },
	{ "G", EXIT, NULL },
	{ "lLv", OUTPUT_LIMIT, NULL },
	{ "i", INVALID, NULL },
	{ "jljn", NOTHING, NULL },
	{ "q", EXIT, NULL },
	{ "ceo", OUTPUT_LIMIT, NULL },
	{ "!v", 0, NULL },
	{ "?v", EXCEPTION, NULL },
	{ "*v", EXIT, NULL },
	{ "-v", HOST, NULL },
	{ "rercwrv", VALUE, "1" },
	{ "jtjrv", VALUE, "1" },
};

const size_t fake_program_count =
	sizeof(fake_programs) / sizeof(*fake_programs);

const unsigned fake_brief[] = { 0, 3, 5, 6, 7, 11, 8, 15, 16, 17, 19, 20, 22,
	23 };

const size_t fake_brief_count = sizeof(fake_brief) / sizeof(*fake_brief);

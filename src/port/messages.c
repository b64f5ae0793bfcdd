/*
 * messages.def as data.
 */
#include "port/messages.h"

#define UP CAPSID__PORT_UP
#define DOWN CAPSID__PORT_DOWN
#define ONCE true
#define MANY false
#define MUST true
#define MAY false
#define AFTER(name) (1u << CAPSID__PORT_##name)

const struct capsid__port_rule capsid__port_rules[CAPSID__PORT_TYPES] = {
#define MESSAGE(name, type, direction, needs, times) \
	[CAPSID__PORT_##name] = { type, direction, needs, times },
#define FIELD(name, key, shape, presence)
#include "port/messages.def"
#undef MESSAGE
#undef FIELD
};

const struct capsid__port_field capsid__port_fields[] = {
#define MESSAGE(name, type, direction, needs, times)
#define FIELD(name, key, shape, presence) \
	{ CAPSID__PORT_##name, key, CAPSID__PORT_##shape, presence },
#include "port/messages.def"
#undef MESSAGE
#undef FIELD
};

const size_t capsid__port_field_count =
	sizeof(capsid__port_fields) / sizeof(capsid__port_fields[0]);

/*
 * The port's constants, from messages.def: types, fields, and the two tables
 * that the codec reads.
 */
#ifndef CAPSID_PORT_MESSAGES_H
#define CAPSID_PORT_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>

#define CAPSID__PORT_PROTOCOL 1

enum capsid__port_type {
#define MESSAGE(name, type, direction, needs, times) CAPSID__PORT_##name,
#define FIELD(name, key, shape, presence)
#include "port/messages.def"
#undef MESSAGE
#undef FIELD
	CAPSID__PORT_TYPES
};

enum capsid__port_direction { CAPSID__PORT_UP, CAPSID__PORT_DOWN };
enum capsid__port_shape {
	CAPSID__PORT_COUNT,
	CAPSID__PORT_ID,
	CAPSID__PORT_TEXT,
	CAPSID__PORT_VALUE,
	CAPSID__PORT_LIST,
	CAPSID__PORT_ERROR,
};

struct capsid__port_rule {
	const char *type;
	enum capsid__port_direction direction;
	unsigned needs; /* a bit a type */
	bool once;
};

struct capsid__port_field {
	enum capsid__port_type type;
	const char *key;
	enum capsid__port_shape shape;
	bool must;
};

/* The fields of a type stand together, in the order of the table. */
#define CAPSID__PORT_FIELDS_MAX 4 /* of one type */

extern const struct capsid__port_rule capsid__port_rules[CAPSID__PORT_TYPES];
extern const struct capsid__port_field capsid__port_fields[];
extern const size_t capsid__port_field_count;

#endif

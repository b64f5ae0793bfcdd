/*
 * What crosses the wall between engine.c and the realm. Plain numbers, shared
 * by both sides; the JavaScript host of a Worker uses the same.
 */
#ifndef CAPSID_QUICKJS_WIRE_H
#define CAPSID_QUICKJS_WIRE_H

/* Guest to host. */
enum wire_type {
	WIRE_LOG = 1,       /* data: a JSON string token */
	WIRE_CALL = 2,      /* id; data: u32 namespace, u32 function, JSON */
	WIRE_VALUE = 3,     /* data: the completion as JSON */
	WIRE_NOTHING = 4,   /* completed without a value */
	WIRE_EXCEPTION = 5, /* data: message as a JSON string token */
	WIRE_INVALID = 6,   /* data: message as a JSON string token */
	WIRE_OVERFLOW = 7,  /* the guest's meter ran over */
	WIRE_EXIT = 8,      /* id: the exit code */
};

/* Host to guest: how a call was answered. */
enum wire_reply {
	WIRE_RESOLVE = 0, /* data: JSON */
	WIRE_REJECT = 1,  /* data: the message in UTF-8 */
};

/* realm_step's answers other than a time. */
#define WIRE_IDLE (-1)    /* nothing is due: only a reply can go on */
#define WIRE_SETTLED (-2) /* the run has settled */

/*
 * The bindings block: u32 count; for each namespace: text global, text class
 * (empty: none), text member, u32 functions, that many texts. A text is u32
 * length and its bytes; numbers are little-endian and unaligned.
 */

/* Calls that the realm has in flight; more wait in it until others are
 * answered. */
#define WIRE_CALLS_MAX 65536u
/* Bytes of their arguments: four of the longest, and no less than this. Another
 * is sent while two of the longest fit. */
#define WIRE_IN_FLIGHT ((uint64_t)64 << 20)

/* Room that realm_buffer leaves around a program for its wrapper. */
#define WIRE_ROOM 128

/* Memory layout: the realm's data behind the engine's, then the big stack. */
#define WIRE_ENGINE_PAGES 18
#define WIRE_REALM_PAGES 8
#define WIRE_STACK_PAGES 128
#define WIRE_ENGINE_TABLE 533 /* functions in the engine's own table */

#endif

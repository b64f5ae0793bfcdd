/*
 * All that the realm has of the world: bytes out, a clock, randomness and a
 * question. Bytes come in through the exports of realm.c. The host side is
 * engine.c natively and a few lines of JavaScript in a Worker.
 */
#ifndef CAPSID_REALM_HOST_H
#define CAPSID_REALM_HOST_H

#include "engine/quickjs/wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HOST(name) __attribute__((import_module("capsid"), import_name(#name)))

/* Adds bytes to the message under way. */
HOST(part) void host_part(const void *data, size_t len);
/* The message's last bytes; `type` is a wire_type, `id` the call's. */
HOST(send) void host_send(int type, uint32_t id, const void *data, size_t len);
/* Drops the parts of the message under way. */
HOST(drop) void host_drop(void);
/* Microseconds since the run began; milliseconds of the epoch. */
HOST(clock_us) uint64_t host_clock_us(void);
HOST(epoch_ms) double host_epoch_ms(void);
HOST(random) void host_random(void *into, size_t len);
/* Whether the guest should stop; the host also takes the chance to look at
 * what was sent. */
HOST(interrupted) int host_interrupted(void);

#endif

/*
 * The alarm clock: one thread that calls each run when its time has come. It
 * sleeps until the earliest deadline and is woken only for an earlier one. When
 * nothing is set it sleeps on towards the last one that was, so that runs which
 * come and go in time never wake it.
 */
#ifndef CAPSID_RUN_ALARM_H
#define CAPSID_RUN_ALARM_H

#include <capsid/error.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CAPSID__ALARM_OFF INT64_MAX

/* Embedded in what is to be woken. */
struct capsid__alarm {
	int64_t at;   /* nanoseconds of CLOCK_MONOTONIC, or OFF */
	size_t place; /* in the heap, from 1; 0: not in it */
};

struct capsid__alarms {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t thread;
	bool running, ending;
	int64_t sleeping_until;
	struct capsid__alarm **heap;
	size_t count, room, reserved;
	/* Under the lock, before the ring: keeps what the alarm is in. */
	void (*hold)(struct capsid__alarm *alarm);
	/* Without the lock: the alarm is off again. */
	void (*ring)(struct capsid__alarm *alarm);
};

void capsid__alarms_init(struct capsid__alarms *alarms,
	void (*hold)(struct capsid__alarm *),
	void (*ring)(struct capsid__alarm *));
/* Ends the thread; no alarm may be set any more. */
void capsid__alarms_done(struct capsid__alarms *alarms);

/* Once for each alarm that will be set: room for it, and the thread. */
int capsid__alarms_reserve(struct capsid__alarms *alarms, capsid_error *err);
void capsid__alarms_unreserve(struct capsid__alarms *alarms);

/* Rings at `at`, unless it rings earlier anyway. */
void capsid__alarm_by(
	struct capsid__alarms *alarms, struct capsid__alarm *alarm, int64_t at);
void capsid__alarm_off(
	struct capsid__alarms *alarms, struct capsid__alarm *alarm);

#endif

/*
 * The alarm clock's heap and thread. Room is reserved when a run begins, so
 * setting an alarm cannot fail later.
 */
#include "run/alarm.h"

#include "base/clock.h"
#include "base/error.h"
#include "run/thread.h"

#include <stdlib.h>

void capsid__alarms_init(struct capsid__alarms *alarms,
	void (*hold)(struct capsid__alarm *),
	void (*ring)(struct capsid__alarm *))
{
	pthread_condattr_t attr;

	*alarms = (struct capsid__alarms){ .hold = hold, .ring = ring };
	pthread_mutex_init(&alarms->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&alarms->changed, &attr);
	pthread_condattr_destroy(&attr);
}

void capsid__alarms_done(struct capsid__alarms *alarms)
{
	bool running;

	pthread_mutex_lock(&alarms->lock);
	alarms->ending = true;
	running = alarms->running;
	pthread_cond_signal(&alarms->changed);
	pthread_mutex_unlock(&alarms->lock);
	if (running)
		pthread_join(alarms->thread, NULL);
	pthread_cond_destroy(&alarms->changed);
	pthread_mutex_destroy(&alarms->lock);
	free(alarms->heap);
}

static void put(
	struct capsid__alarms *alarms, size_t place, struct capsid__alarm *it)
{
	alarms->heap[place - 1] = it;
	it->place = place;
}

static void sift_up(struct capsid__alarms *alarms, size_t place)
{
	struct capsid__alarm *it = alarms->heap[place - 1];

	while (place > 1 && it->at < alarms->heap[place / 2 - 1]->at) {
		put(alarms, place, alarms->heap[place / 2 - 1]);
		place /= 2;
	}
	put(alarms, place, it);
}

static void sift_down(struct capsid__alarms *alarms, size_t place)
{
	struct capsid__alarm *it = alarms->heap[place - 1];

	for (;;) {
		size_t child = place * 2;

		if (child > alarms->count)
			break;
		if (child < alarms->count &&
			alarms->heap[child]->at < alarms->heap[child - 1]->at)
			child++;
		if (alarms->heap[child - 1]->at >= it->at)
			break;
		put(alarms, place, alarms->heap[child - 1]);
		place = child;
	}
	put(alarms, place, it);
}

static void take_out(struct capsid__alarms *alarms, struct capsid__alarm *it)
{
	size_t place = it->place;
	struct capsid__alarm *last = alarms->heap[--alarms->count];

	it->place = 0;
	it->at = CAPSID__ALARM_OFF;
	if (last == it)
		return;
	put(alarms, place, last);
	sift_down(alarms, place);
	sift_up(alarms, last->place);
}

static void sleep_until(struct capsid__alarms *alarms, int64_t at)
{
	struct timespec when = { .tv_sec = at / 1000000000,
		.tv_nsec = at % 1000000000 };

	alarms->sleeping_until = at;
	if (at == CAPSID__ALARM_OFF)
		pthread_cond_wait(&alarms->changed, &alarms->lock);
	else
		pthread_cond_timedwait(&alarms->changed, &alarms->lock, &when);
	alarms->sleeping_until = 0;
}

static void *clock_thread(void *payload)
{
	struct capsid__alarms *alarms = payload;

	pthread_mutex_lock(&alarms->lock);
	while (!alarms->ending) {
		struct capsid__alarm *first =
			alarms->count ? alarms->heap[0] : NULL;

		if (first == NULL || first->at > capsid__now_ns()) {
			sleep_until(
				alarms, first ? first->at : CAPSID__ALARM_OFF);
			continue;
		}
		take_out(alarms, first);
		alarms->hold(first);
		pthread_mutex_unlock(&alarms->lock);
		alarms->ring(first);
		pthread_mutex_lock(&alarms->lock);
	}
	pthread_mutex_unlock(&alarms->lock);
	return NULL;
}

static int reserve(struct capsid__alarms *alarms, capsid_error *err)
{
	if (alarms->reserved == alarms->room) {
		size_t room = alarms->room ? alarms->room * 2 : 64;
		struct capsid__alarm **grown = realloc(
			alarms->heap, room * sizeof(struct capsid__alarm *));

		if (grown == NULL)
			return capsid__error_set(
				err, CAPSID_ENOMEM, "no memory for a run");
		alarms->heap = grown;
		alarms->room = room;
	}
	if (!alarms->running) {
		int code = capsid__thread_start(&alarms->thread, "capsid-clock",
			clock_thread, alarms, err);
		if (code != 0)
			return code;
		alarms->running = true;
	}
	alarms->reserved++;
	return 0;
}

int capsid__alarms_reserve(struct capsid__alarms *alarms, capsid_error *err)
{
	int code;

	pthread_mutex_lock(&alarms->lock);
	code = reserve(alarms, err);
	pthread_mutex_unlock(&alarms->lock);
	return code;
}

void capsid__alarms_unreserve(struct capsid__alarms *alarms)
{
	pthread_mutex_lock(&alarms->lock);
	alarms->reserved--;
	pthread_mutex_unlock(&alarms->lock);
}

void capsid__alarm_by(
	struct capsid__alarms *alarms, struct capsid__alarm *alarm, int64_t at)
{
	pthread_mutex_lock(&alarms->lock);
	if (alarm->place == 0) {
		alarm->at = at;
		put(alarms, ++alarms->count, alarm);
		sift_up(alarms, alarm->place);
	} else if (at < alarm->at) {
		alarm->at = at;
		sift_up(alarms, alarm->place);
	}
	if (alarms->heap[0]->at < alarms->sleeping_until)
		pthread_cond_signal(&alarms->changed);
	pthread_mutex_unlock(&alarms->lock);
}

void capsid__alarm_off(
	struct capsid__alarms *alarms, struct capsid__alarm *alarm)
{
	pthread_mutex_lock(&alarms->lock);
	if (alarm->place != 0)
		take_out(alarms, alarm);
	pthread_mutex_unlock(&alarms->lock);
}

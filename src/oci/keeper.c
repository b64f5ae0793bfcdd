/*
 * One thread, one loop: the host's orders, the runtime's ends, the guests'
 * first words and their deaths. First of all it looks for a runtime that
 * works, by having it make the first container; that one is used, too.
 *
 * When the host is gone, everything goes: what runs is killed, what the
 * runtime keeps is removed by it, then the directory.
 */
#include "oci/keeper.h"

#include "base/auto.h"
#include "base/clock.h"
#include "base/error.h"
#include "oci/container.h"
#include "oci/files.h"
#include "oci/image.h"
#include "oci/root.h"
#include "oci/runtime.h"
#include "port/control.h"
#include "sandbox/report.h"
#include "sandbox/sandbox.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runtimes at work at once: to make, and to remove. */
#define MAKING_MAX 2
#define REMOVING_MAX 4
#define TICK_MS 200
#define CONTROL_EVENT UINT32_MAX

struct keeper {
	struct capsid__oci_world world;
	int control; /* -1: a trial alone, see try */
	int epoll;
	struct capsid__oci_container **containers; /* by slot; never moved */
	uint32_t count;
	uint32_t owed;  /* to be handed over */
	uint32_t syncs; /* to be answered when nothing is being removed */
	uint32_t spare; /* booted and not asked for: 0, or its slot + 1 */
	bool ending;    /* the host is gone */
	bool once;      /* a trial: over as soon as it is settled */
	/* the search for a runtime */
	const char *const *candidates;
	size_t candidate;
	bool settled;                    /* it is over */
	struct capsid__oci_trial *trial; /* what came of it */
	struct capsid__buf complaints;
};

/* --- what the host is told --- */

/* The host is gone if this fails. */
static void say(struct keeper *keeper, const struct capsid__said *what,
	const int *fds, size_t fd_count)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(CAPSID__SAID_FDS * sizeof(int))];
	} control = { 0 };
	struct iovec data = { (void *)(uintptr_t)what, sizeof(*what) };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1 };
	ssize_t n;

	if (keeper->control < 0)
		return;
	if (fd_count > 0) {
		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(fd_count * sizeof(int));
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(fd_count * sizeof(int));
		memcpy(CMSG_DATA(&control.head), fds, fd_count * sizeof(int));
	}
	do
		n = sendmsg(keeper->control, &message, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		keeper->ending = true;
}

static void say_failure(struct keeper *keeper, enum capsid__said_what what,
	int code, const char *text)
{
	struct capsid__said said = { .what = what, .code = code };

	snprintf(said.text, sizeof(said.text), "%s", text);
	say(keeper, &said, NULL, 0);
}

static void say_dead(struct keeper *keeper, uint32_t slot)
{
	const struct capsid__oci_container *container =
		keeper->containers[slot];
	struct capsid__said dead = { .what = CAPSID__SAID_DEAD,
		.slot = slot,
		.code = container->end.si_code,
		.status = container->end.si_status,
		.oom = capsid__oci_cgroup_oom(container->kills) };
	struct capsid__report *page = capsid__report_at(container->words);
	struct capsid__sandbox_end end;

	/* hearsay: it names an end, it does not decide on one */
	if (page != NULL) {
		capsid__sandbox_end(&end, page);
		if (end.kind == CAPSID__REPORT_SETUP ||
			end.kind == CAPSID__REPORT_SYSCALL)
			snprintf(dead.text, sizeof(dead.text), "%s", end.text);
		else if (end.kind == CAPSID__REPORT_SIGNAL)
			dead.signal = end.number;
		capsid__report_free(page);
	}
	say(keeper, &dead, NULL, 0);
}

/* --- events --- */

enum event { EVENT_PROCESS, EVENT_PORT };

static void watch(
	struct keeper *keeper, uint32_t slot, enum event event, int fd)
{
	struct epoll_event what = { .events = EPOLLIN,
		.data.u64 = (uint64_t)event << 32 | slot };

	if (epoll_ctl(keeper->epoll, EPOLL_CTL_ADD, fd, &what) != 0)
		abort(); /* it would never be heard of again */
}

static void unwatch(const struct keeper *keeper, int fd)
{
	epoll_ctl(keeper->epoll, EPOLL_CTL_DEL, fd, NULL);
}

/* --- containers --- */

static uint32_t count_in(const struct keeper *keeper, int phase)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < keeper->count; i++)
		count += (int)keeper->containers[i]->phase == phase;
	return count;
}

static bool slot_take(struct keeper *keeper, uint32_t *slot)
{
	struct capsid__oci_container **grown, *fresh;

	for (*slot = 0; *slot < keeper->count; ++*slot) {
		if (keeper->containers[*slot]->phase == CAPSID__OCI_FREE)
			return true;
	}
	grown = reallocarray(keeper->containers, keeper->count + 1,
		sizeof(struct capsid__oci_container *));
	if (grown == NULL)
		return false;
	keeper->containers = grown;
	fresh = calloc(1, sizeof(*fresh));
	if (fresh == NULL)
		return false;
	*fresh = (struct capsid__oci_container){
		.pidfd = -1, .port = -1, .words = -1, .cpu = -1, .kills = -1
	};
	grown[keeper->count++] = fresh;
	return true;
}

static int make(struct keeper *keeper, capsid_error *err)
{
	struct capsid__oci_container *container;
	uint32_t slot;
	int code;

	if (!slot_take(keeper, &slot))
		return capsid__error_set(
			err, CAPSID_ENOMEM, "no memory for a container");
	container = keeper->containers[slot];
	code = capsid__oci_container_make(container, &keeper->world, err);
	if (code == 0)
		watch(keeper, slot, EVENT_PROCESS, container->pidfd);
	return code;
}

static void discard(struct keeper *keeper, uint32_t slot)
{
	struct capsid__oci_container *container = keeper->containers[slot];

	container->unwanted = true;
	if (container->phase == CAPSID__OCI_BOOTING ||
		container->phase == CAPSID__OCI_READY)
		pidfd_send_signal(container->pidfd, SIGKILL, NULL, 0);
	else if (container->phase == CAPSID__OCI_DEAD)
		container->phase = CAPSID__OCI_LEFT;
}

static void hand_over(struct keeper *keeper, uint32_t slot)
{
	struct capsid__oci_container *container = keeper->containers[slot];
	struct capsid__said born = { .what = CAPSID__SAID_CHILD, .slot = slot };
	int fds[CAPSID__SAID_FDS] = { container->port, container->pidfd,
		container->cpu };

	container->given = true;
	say(keeper, &born, fds, container->cpu >= 0 ? 3 : 2);
	close(container->port);
	container->port = -1;
}

/* --- the search --- */

static void settle(struct keeper *keeper, const char *failure)
{
	struct capsid__said ready = { .what = CAPSID__SAID_READY };

	keeper->settled = true;
	snprintf(keeper->trial->failure, sizeof(keeper->trial->failure), "%s",
		failure);
	if (failure[0] == '\0') {
		keeper->trial->limits = keeper->world.limits;
		say(keeper, &ready, NULL, 0);
		keeper->ending |= keeper->once;
		return;
	}
	say_failure(keeper, CAPSID__SAID_FAILED, CAPSID_ESYS, failure);
	keeper->ending = true;
}

/* What is wrong with this one is kept for the case that no other works. */
static void complain(struct keeper *keeper, const char *text)
{
	const char *name = keeper->candidates[keeper->candidate];

	(void)capsid__buf_printf(&keeper->complaints, "%s%.250s; to do: %s",
		keeper->complaints.len != 0 ? "; " : "", text,
		capsid__oci_remedy(name, text));
}

static void try_candidates(struct keeper *keeper);

/* Rules for devices are a program for the kernel (bpf) where cgroups are of
 * version 2, which ordinary users may not load, nor root everywhere. */
static bool blames_devices(const char *text)
{
	return strcasestr(text, "bpf") != NULL ||
	       strstr(text, "MEMLOCK") != NULL ||
	       strstr(text, "devices.") != NULL;
}

/* The candidate that is being tried does not work. `own`: it says so itself,
 * and not a guest, who may not have its limits taken off. */
static void next_candidate(struct keeper *keeper, const char *text, bool own)
{
	struct capsid__oci_world *world = &keeper->world;

	/* the root gives none either way, see bind_root */
	if (own && world->devices && blames_devices(text)) {
		world->devices = false;
		/* without limits it may: then that is all that is wrong */
	} else if (own && world->limits && !world->plan->cgroup_required &&
		   strstr(text, "cgroup") != NULL) {
		snprintf(keeper->trial->why_not, sizeof(keeper->trial->why_not),
			"%s", text);
		world->limits = false;
	} else {
		complain(keeper, text);
		keeper->candidate++;
		world->devices = true;
		world->limits = world->cgroup.why[0] == '\0' &&
				!world->plan->cgroup_off;
	}
	try_candidates(keeper);
}

static int try_one(struct keeper *keeper, capsid_error *err)
{
	struct capsid__oci_world *world = &keeper->world;
	int code;

	free(world->runtime);
	world->runtime = NULL;
	code = capsid__oci_runtime_find(
		&world->runtime, keeper->candidates[keeper->candidate], err);
	if (code == 0)
		code = capsid__oci_state_note(
			&world->state, world->runtime, err);
	if (code == 0)
		code = make(keeper, err);
	if (code == 0)
		snprintf(keeper->trial->path, sizeof(keeper->trial->path),
			"%.255s", world->runtime);
	return code;
}

static void try_candidates(struct keeper *keeper)
{
	capsid_error err;

	for (; keeper->candidates[keeper->candidate] != NULL;
		keeper->candidate++) {
		if (try_one(keeper, &err) == 0)
			return;
		complain(keeper, err.message);
	}
	(void)capsid__buf_append_byte(&keeper->complaints, '\0');
	settle(keeper, keeper->complaints.data != NULL ? keeper->complaints.data
						       : "out of memory");
}

/* --- what happens to containers --- */

/* One that never became a guest; `own`: as next_candidate has it. */
static void on_failure(
	struct keeper *keeper, uint32_t slot, const char *text, bool own)
{
	discard(keeper, slot);
	if (keeper->ending)
		return;
	if (!keeper->settled)
		next_candidate(keeper, text, own);
	else
		say_failure(keeper, CAPSID__SAID_NO_CHILD, CAPSID_ESYS, text);
}

static void on_made(struct keeper *keeper, uint32_t slot)
{
	struct capsid__oci_container *container = keeper->containers[slot];
	capsid_error err;

	unwatch(keeper, container->pidfd);
	if (capsid__oci_container_made(container, &keeper->world, &err) != 0) {
		on_failure(keeper, slot, err.message, true);
		return;
	}
	watch(keeper, slot, EVENT_PROCESS, container->pidfd);
	watch(keeper, slot, EVENT_PORT, container->port);
	if (container->unwanted)
		discard(keeper, slot);
}

/* It has something to say, so it can be given a program; or it closed its
 * port, and what there is to say of that comes with its end. */
static void on_words(struct keeper *keeper, uint32_t slot)
{
	struct capsid__oci_container *container = keeper->containers[slot];
	char byte;

	unwatch(keeper, container->port);
	if (recv(container->port, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 1) {
		pidfd_send_signal(container->pidfd, SIGKILL, NULL, 0);
		return;
	}
	container->phase = CAPSID__OCI_READY;
	if (!keeper->settled) {
		keeper->spare = slot + 1;
		settle(keeper, "");
	} else {
		hand_over(keeper, slot);
	}
}

static void on_death(struct keeper *keeper, uint32_t slot)
{
	struct capsid__oci_container *container = keeper->containers[slot];
	bool booting = container->phase == CAPSID__OCI_BOOTING;
	char words[200], text[400];

	unwatch(keeper, container->pidfd);
	unwatch(keeper, container->port);
	if (keeper->spare == slot + 1)
		keeper->spare = 0;
	capsid__oci_container_died(container);
	if (container->given) {
		say_dead(keeper, slot);
		/* nobody will say again that its pid is free */
		if (keeper->ending || container->unwanted)
			discard(keeper, slot);
		return;
	}
	discard(keeper, slot);
	if (!booting || keeper->ending)
		return;
	capsid__oci_container_words(words, sizeof(words), container);
	snprintf(text, sizeof(text), "the guest \"%.100s\" %s%s%s",
		keeper->world.plan->arguments[0],
		container->late ? "did not say boot-ack in 45 s"
				: "ended before it said boot-ack",
		words[0] != '\0' ? ": " : "", words);
	on_failure(keeper, slot, text, false);
}

static void on_event(struct keeper *keeper, uint64_t what)
{
	uint32_t slot = (uint32_t)what;
	enum event event = (enum event)(what >> 32);

	if (event == EVENT_PORT) {
		if (keeper->containers[slot]->phase == CAPSID__OCI_BOOTING)
			on_words(keeper, slot);
		return;
	}
	switch (keeper->containers[slot]->phase) {
	case CAPSID__OCI_MAKING:
		on_made(keeper, slot);
		break;
	case CAPSID__OCI_BOOTING:
	case CAPSID__OCI_READY:
		on_death(keeper, slot);
		break;
	case CAPSID__OCI_REMOVING:
		unwatch(keeper, keeper->containers[slot]->pidfd);
		capsid__oci_container_removed(keeper->containers[slot]);
		break;
	default:
		break;
	}
}

/* --- orders --- */

static void reap(struct keeper *keeper, uint32_t slot)
{
	if (slot < keeper->count && keeper->containers[slot]->given)
		discard(keeper, slot);
}

static void on_order(struct keeper *keeper)
{
	struct capsid__order order;
	ssize_t n = recv(keeper->control, &order, sizeof(order), 0);

	if (n < 0 && errno == EINTR)
		return;
	if (n != sizeof(order)) {
		keeper->ending = true;
		unwatch(keeper, keeper->control);
	} else if (order.verb == CAPSID__ORDER_FORK) {
		keeper->owed += order.value;
	} else if (order.verb == CAPSID__ORDER_REAP) {
		reap(keeper, order.value);
	} else if (order.verb == CAPSID__ORDER_SYNC) {
		keeper->syncs++;
	}
}

/* --- the loop --- */

static void make_owed(struct keeper *keeper)
{
	capsid_error err;

	if (keeper->owed > 0 && keeper->spare != 0) {
		keeper->owed--;
		hand_over(keeper, keeper->spare - 1);
		keeper->spare = 0;
	}
	while (keeper->owed > 0 && !keeper->ending &&
		count_in(keeper, CAPSID__OCI_MAKING) < MAKING_MAX) {
		keeper->owed--;
		if (make(keeper, &err) != 0)
			say_failure(keeper, CAPSID__SAID_NO_CHILD, err.code,
				err.message);
	}
}

static void remove_left(struct keeper *keeper)
{
	uint32_t busy = count_in(keeper, CAPSID__OCI_REMOVING);

	for (uint32_t i = 0; i < keeper->count && busy < REMOVING_MAX; i++) {
		struct capsid__oci_container *container = keeper->containers[i];

		if (container->phase != CAPSID__OCI_LEFT)
			continue;
		capsid__oci_container_remove(container, &keeper->world);
		if (container->phase != CAPSID__OCI_REMOVING)
			continue;
		watch(keeper, i, EVENT_PROCESS, container->pidfd);
		busy++;
	}
}

/* A runtime that hangs, and a guest that does not speak. */
static void look_at_clock(struct keeper *keeper)
{
	int64_t now = capsid__now_ns();

	for (uint32_t i = 0; i < keeper->count; i++) {
		struct capsid__oci_container *container = keeper->containers[i];

		if ((container->phase == CAPSID__OCI_MAKING ||
			    container->phase == CAPSID__OCI_BOOTING ||
			    container->phase == CAPSID__OCI_REMOVING) &&
			now > container->due && !container->late) {
			container->late = true;
			pidfd_send_signal(container->pidfd, SIGKILL, NULL, 0);
		}
	}
}

static bool is_known(const struct keeper *keeper, pid_t pid)
{
	for (uint32_t i = 0; i < keeper->count; i++) {
		if (keeper->containers[i]->pid == pid)
			return true;
	}
	return false;
}

/* What runtimes leave behind becomes our child. Not while one is at work: what
 * it will tell of must not be gone by then. */
static void reap_orphans(const struct keeper *keeper)
{
	siginfo_t info = { 0 };

	while (count_in(keeper, CAPSID__OCI_MAKING) == 0 &&
		waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
		info.si_pid != 0 && !is_known(keeper, info.si_pid)) {
		waitid(P_PID, (id_t)info.si_pid, &info, WEXITED | WNOHANG);
		info = (siginfo_t){ 0 };
	}
}

static void answer_syncs(struct keeper *keeper)
{
	struct capsid__said sync = { .what = CAPSID__SAID_SYNC };

	if (count_in(keeper, CAPSID__OCI_LEFT) != 0 ||
		count_in(keeper, CAPSID__OCI_REMOVING) != 0)
		return;
	for (; keeper->syncs > 0; keeper->syncs--)
		say(keeper, &sync, NULL, 0);
}

/* Nothing is left, nor will be. */
static bool over(struct keeper *keeper)
{
	if (!keeper->ending)
		return false;
	for (uint32_t i = 0; i < keeper->count; i++) {
		if (keeper->containers[i]->phase != CAPSID__OCI_FREE &&
			keeper->containers[i]->phase != CAPSID__OCI_REMOVING &&
			keeper->containers[i]->phase != CAPSID__OCI_LEFT)
			discard(keeper, i);
	}
	remove_left(keeper);
	return count_in(keeper, CAPSID__OCI_FREE) == keeper->count;
}

static void loop(struct keeper *keeper)
{
	struct epoll_event events[32];

	while (!over(keeper)) {
		int count = epoll_wait(keeper->epoll, events, 32, TICK_MS);

		for (int i = 0; i < count; i++) {
			if (events[i].data.u64 == CONTROL_EVENT)
				on_order(keeper);
			else
				on_event(keeper, events[i].data.u64);
		}
		look_at_clock(keeper);
		make_owed(keeper);
		remove_left(keeper);
		answer_syncs(keeper);
		reap_orphans(keeper);
	}
}

/* --- its life --- */

static int add_places(const struct capsid__oci_world *world, capsid_error *err)
{
	int code = 0;

	for (size_t i = 0; code == 0 && i < world->plan->mount_count; i++)
		code = capsid__oci_place(world->state.rootfs,
			world->plan->mounts[i].destination,
			world->plan->mounts[i].directory, err);
	return code;
}

static const char *root_of(const struct capsid__oci_world *world)
{
	return world->plan->rootfs != NULL ? world->plan->rootfs
					   : world->state.rootfs;
}

/* An ordinary user's image that we unpacked has no devices: a user can make
 * none. A directory may hold anything. */
static int bind_root(
	struct capsid__oci_world *world, bool entered, capsid_error *err)
{
	int code;

	if (!entered && !world->plan->foreign)
		return 0;
	if (!entered)
		return capsid__error_set(err, CAPSID_ESYS,
			"image \"%.200s\" is a directory, which may hold "
			"device "
			"nodes, and this user has no right to a user namespace "
			"that would take them away: give an OCI image layout, "
			"or allow user namespaces",
			world->plan->options->image);
	code = capsid__oci_harmless(root_of(world), err);
	world->bound = code == 0;
	return code;
}

static int begin(struct keeper *keeper, const struct capsid__oci_plan *plan,
	capsid_error *err)
{
	struct epoll_event event = { .events = EPOLLIN,
		.data.u64 = CONTROL_EVENT };
	struct capsid__oci_world *world = &keeper->world;
	bool entered = false;
	int code;

	world->plan = plan;
	umask(022);
	/* first processes of containers become ours when their maker ends */
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	keeper->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (keeper->epoll < 0 ||
		(keeper->control >= 0 && epoll_ctl(keeper->epoll, EPOLL_CTL_ADD,
						 keeper->control, &event) != 0))
		return capsid__error_system(err, "cannot watch containers");
	code = capsid__oci_enter(&entered, err);
	if (code == 0)
		code = capsid__oci_state_open(&world->state, err);
	if (code == 0)
		code = add_places(world, err);
	if (code == 0)
		code = bind_root(world, entered, err);
	if (code != 0)
		return code;
	if (!plan->cgroup_off)
		capsid__oci_cgroup_open(&world->cgroup);
	if (plan->cgroup_required && world->cgroup.why[0] != '\0')
		return capsid__error_set(err, CAPSID_ESYS,
			"the cgroup that is required cannot be made: %s",
			world->cgroup.why);
	world->devices = true;
	world->limits = !plan->cgroup_off && world->cgroup.why[0] == '\0';
	snprintf(keeper->trial->why_not, sizeof(keeper->trial->why_not), "%s",
		plan->cgroup_off ? "off" : world->cgroup.why);
	return 0;
}

static void end(struct keeper *keeper)
{
	for (uint32_t i = 0; i < keeper->count; i++)
		free(keeper->containers[i]);
	free(keeper->containers);
	free(keeper->world.runtime);
	capsid__oci_cgroup_close(&keeper->world.cgroup);
	if (keeper->world.bound)
		capsid__oci_harmless_undo(root_of(&keeper->world));
	capsid__oci_state_close(&keeper->world.state);
	capsid__buf_done(&keeper->complaints);
	if (keeper->epoll >= 0)
		close(keeper->epoll);
}

static void keep(struct keeper *keeper, const struct capsid__oci_plan *plan)
{
	capsid_error err;

	keeper->world.state.lock = -1;
	if (begin(keeper, plan, &err) != 0) {
		settle(keeper, err.message);
	} else {
		try_candidates(keeper);
		loop(keeper);
	}
	end(keeper);
}

int capsid__oci_serve(const struct capsid__oci_options *options, int control)
{
	const char *const named[] = { options->runtime, NULL };
	struct capsid__oci_trial trial = { 0 };
	struct keeper keeper = { .control = control,
		.trial = &trial,
		.candidates = options->runtime != NULL ? named
						       : capsid__oci_runtimes };
	CAPSID__AUTO_FREE char *unpacked = NULL;
	struct capsid__oci_plan plan;
	capsid_error err;
	int code = 0;

	if (options->image != NULL)
		code = capsid__oci_image(&unpacked, options->image, &err);
	if (code == 0)
		code = capsid__oci_plan(&plan, options, unpacked, &err);
	if (code != 0) {
		say_failure(&keeper, CAPSID__SAID_FAILED, code, err.message);
		return 1;
	}
	keep(&keeper, &plan);
	capsid__oci_plan_done(&plan);
	return trial.failure[0] != '\0';
}

void capsid__oci_try(struct capsid__oci_trial *out,
	const struct capsid__oci_plan *plan, const char *runtime)
{
	const char *const named[] = { runtime, NULL };
	struct keeper keeper = { .control = -1,
		.trial = out,
		.candidates = named,
		/* there is no host: over as soon as it has booted */
		.once = true };

	*out = (struct capsid__oci_trial){ 0 };
	keep(&keeper, plan);
}

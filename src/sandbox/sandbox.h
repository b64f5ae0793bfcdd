/*
 * The sandbox as its users see it: the zygote enters one world for all its
 * children (prepare), forks them (fork), and each takes off the rest before it
 * reads a byte of program (child). Order of use: plan, prepare, [seal],
 * [trial], { fork, child } …, end.
 *
 * The zygote has one thread and no secret. Nothing here is for a process with
 * threads but the plan and cgroup.h.
 */
#ifndef CAPSID_SANDBOX_SANDBOX_H
#define CAPSID_SANDBOX_SANDBOX_H

#include "sandbox/plan.h"
#include "sandbox/report.h"

#include <stddef.h>
#include <sys/types.h>

struct capsid__sandbox;

/*
 * Once, in the zygote, before it loads its engine: namespaces, an empty root
 * with the plan's mounts, the filter. `plan` is borrowed for the sandbox's
 * life, `control` is the socket to the host (-1: none).
 *
 * RETURNS IN ANOTHER PROCESS: the caller becomes the keeper, which never
 * returns; its child, process 1 of a pid namespace, goes on as the zygote. The
 * keeper ends with the zygote and with its exit status (128 + n for signal n).
 * The zygote, and with it every child, is killed when the keeper is, when the
 * process that started the keeper ends, and when the other end of `control` is
 * closed. SIGTERM does not reach the zygote: close `control`, or kill the
 * keeper.
 *
 * Not 0: nothing has happened, or the process to return in is the zygote,
 * which can only report *err and exit. CAPSID_EUNSUPPORTED: a required layer
 * is missing, the message names it, says why and what to do.
 */
int capsid__sandbox_prepare(struct capsid__sandbox **out,
	const struct capsid__sandbox_plan *plan, int control,
	capsid_error *err);

/*
 * Once, in the zygote when all is loaded: from here on it can do what ordinary
 * programs do, and make children. Where that can't be had each child puts on
 * the whole filter itself, and nothing else changes.
 */
void capsid__sandbox_seal(struct capsid__sandbox *sandbox);

/*
 * Forks a child that enters the sandbox and exits: afterwards the status is
 * that of every layer, and what a child would fail of is an error now.
 */
int capsid__sandbox_trial(struct capsid__sandbox *sandbox, capsid_error *err);

/* Borrowed. The layers of children are known after a trial. */
const struct capsid__layer_status *capsid__sandbox_status(
	const struct capsid__sandbox *sandbox);

/*
 * Like fork(2): 0 in the child, which must call capsid__sandbox_child at once;
 * -1: *err. In the zygote *report is owned: capsid__report_free, after the
 * child has been reaped and its end read.
 */
pid_t capsid__sandbox_fork(struct capsid__report **report,
	struct capsid__sandbox *sandbox, capsid_error *err);

#define CAPSID__SANDBOX_KEEP 16

/*
 * In the child, once: private /tmp, limits, no privilege, Landlock, the
 * filter. Every descriptor but those in `keep` (at most CAPSID__SANDBOX_KEEP)
 * is closed. Not 0: the child must _exit; the report says why.
 */
int capsid__sandbox_child(struct capsid__sandbox *sandbox,
	struct capsid__report *report, const int *keep, size_t keep_count,
	capsid_error *err);

/*
 * With a plan that is `late`, in the child, once, after the above: Landlock
 * and the filter, which the above left out. Until then the child can open
 * files and make connections, so it must not have read anything from a peer.
 * Not 0: the child must _exit; the report says why.
 */
int capsid__sandbox_late(struct capsid__sandbox *sandbox,
	struct capsid__report *report, capsid_error *err);

/*
 * For a guest without a zygote, once, before it reads a byte of program: on
 * itself, in the world in which it is. Layers that are namespaces are taken as
 * they are: where it is process 1, the container's; else there are none.
 * `report` and `keep` as above, a report is borrowed for good. Not 0: it must
 * _exit.
 */
int capsid__sandbox_enter(const struct capsid__sandbox_plan *plan,
	struct capsid__report *report, const int *keep, size_t keep_count,
	capsid_error *err);

/* How a child ended, as far as it is told. */
struct capsid__sandbox_end {
	/* NONE: nothing but what waitid says. */
	enum capsid__report_kind kind;
	int number; /* the system call's, or the signal's */
	/* "killed for the system call "bpf"", "killed by SIGKILL", or why
	 * there never was a sandbox; "" for NONE. */
	char text[200];
};

void capsid__sandbox_end(
	struct capsid__sandbox_end *out, const struct capsid__report *report);

/*
 * For doctor: what this machine gives, found by doing it in processes that
 * are gone afterwards. The levels of the plan are taken as "wanted" where they
 * are "required". CAPSID_ESYS: it could not be tried.
 */
int capsid__sandbox_probe(struct capsid__layer_status *out,
	const struct capsid__sandbox_plan *plan, capsid_error *err);

#endif

/*
 * Names, levels and what to tell a person about a layer that is missing. One
 * table; everything that speaks of layers reads it.
 */
#include "sandbox/layers.h"

#include "base/error.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define REMEDY_USERNS                                                        \
	"allow user namespaces: sysctl user.max_user_namespaces and, where " \
	"they exist, kernel.unprivileged_userns_clone=1 and "                \
	"kernel.apparmor_restrict_unprivileged_userns=0; in a container, "   \
	"a seccomp profile that lets clone and unshare through"

#define REMEDY_NAMESPACE                                                \
	"it comes with the user namespace or with CAP_SYS_ADMIN; in a " \
	"container, run it with a seccomp profile that lets clone, "    \
	"unshare and mount through"

static const struct layer {
	const char *name;
	enum capsid__level level;
	bool namespace;
	const char *purpose;
	const char *remedy;
} table[] = {
	[CAPSID__LAYER_CGROUP] = { "cgroup", CAPSID__LEVEL_WANTED, false,
		"memory, processes and CPU counted and capped from outside",
		"delegate a cgroup: systemd-run --user --scope -p "
		"Delegate=yes, or run as root; without it memory is limited "
		"by rlimits and by watching the resident size" },
	[CAPSID__LAYER_USER] = { "user", CAPSID__LEVEL_REQUIRED, true,
		"no identity outside; the other namespaces without root",
		REMEDY_USERNS },
	[CAPSID__LAYER_MOUNT] = { "mount", CAPSID__LEVEL_REQUIRED, true,
		"an empty root: no file but what the language needs",
		REMEDY_NAMESPACE },
	[CAPSID__LAYER_PID] = { "pid", CAPSID__LEVEL_REQUIRED, true,
		"no other process; whoever ends takes all it started along",
		REMEDY_NAMESPACE },
	[CAPSID__LAYER_NETWORK] = { "network", CAPSID__LEVEL_REQUIRED, true,
		"no interface, no address, no abstract socket of the host",
		REMEDY_NAMESPACE },
	[CAPSID__LAYER_IPC] = { "ipc", CAPSID__LEVEL_REQUIRED, true,
		"no shared memory, semaphore or queue of the host",
		REMEDY_NAMESPACE },
	[CAPSID__LAYER_UTS] = { "uts", CAPSID__LEVEL_WANTED, true,
		"not the host's name", REMEDY_NAMESPACE },
	[CAPSID__LAYER_CGROUP_VIEW] = { "cgroup-view", CAPSID__LEVEL_WANTED,
		true, "not the host's cgroup paths", REMEDY_NAMESPACE },
	[CAPSID__LAYER_RLIMITS] = { "rlimits", CAPSID__LEVEL_REQUIRED, false,
		"descriptors, threads, file sizes and memory are bounded",
		"raise the hard limits of the host process (ulimit -H)" },
	[CAPSID__LAYER_CAPABILITIES] = { "capabilities", CAPSID__LEVEL_REQUIRED,
		false, "no privilege in any namespace, none to be had",
		"run the host with no capabilities, or with all of "
		"CAP_SETPCAP, CAP_SETUID and CAP_SETGID" },
	[CAPSID__LAYER_NO_NEW_PRIVS] = { "no-new-privs", CAPSID__LEVEL_REQUIRED,
		false, "no setuid program gives privileges back",
		"use a kernel that has PR_SET_NO_NEW_PRIVS (3.5)" },
	[CAPSID__LAYER_LANDLOCK] = { "landlock", CAPSID__LEVEL_WANTED, false,
		"files once more, TCP, abstract sockets, signals",
		"use a kernel with CONFIG_SECURITY_LANDLOCK and \"landlock\" "
		"in its lsm= list; in a container, a seccomp profile that "
		"lets the landlock_* calls through" },
	[CAPSID__LAYER_SECCOMP] = { "seccomp", CAPSID__LEVEL_REQUIRED, false,
		"only the system calls on a list reach the kernel",
		"use a kernel with CONFIG_SECCOMP_FILTER (4.14 or newer)" },
};

_Static_assert(sizeof(table) / sizeof(*table) == CAPSID__LAYERS,
	"every layer has its row");

const char *capsid__layer_name(enum capsid__layer layer)
{
	return table[layer].name;
}

const char *capsid__level_name(enum capsid__level level)
{
	static const char *const names[] = { "off", "wanted", "required" };

	return names[level];
}

const char *capsid__layer_purpose(enum capsid__layer layer)
{
	return table[layer].purpose;
}

const char *capsid__layer_remedy(enum capsid__layer layer, int os_errno)
{
	if (table[layer].namespace && os_errno == ENOSPC)
		return "raise the limits under /proc/sys/user/max_*_namespaces";
	return table[layer].remedy;
}

void capsid__levels_default(struct capsid__levels *out)
{
	for (int i = 0; i < CAPSID__LAYERS; i++)
		out->of[i] = table[i].level;
}

static bool same(const char *name, const char *text, size_t len)
{
	return strlen(name) == len && memcmp(name, text, len) == 0;
}

/* How many layers the name stands for; sets them. */
static int set(struct capsid__levels *levels, const char *name, size_t len,
	enum capsid__level level)
{
	int count = 0;

	for (int i = 0; i < CAPSID__LAYERS; i++) {
		if (!same(table[i].name, name, len) &&
			!same("all", name, len) &&
			!(table[i].namespace && same("namespaces", name, len)))
			continue;
		levels->of[i] = level;
		count++;
	}
	return count;
}

static int level_of(const char *text, size_t len)
{
	for (int i = CAPSID__LEVEL_OFF; i <= CAPSID__LEVEL_REQUIRED; i++) {
		if (same(capsid__level_name((enum capsid__level)i), text, len))
			return i;
	}
	return -1;
}

int capsid__levels_parse(
	struct capsid__levels *levels, const char *text, capsid_error *err)
{
	struct capsid__levels changed = *levels;

	while (*text != '\0') {
		size_t part = strcspn(text, ",");
		size_t name = strcspn(text, "=,");
		int level = name < part
				    ? level_of(text + name + 1, part - name - 1)
				    : -1;

		if (level < 0)
			return capsid__error_set(err, CAPSID_EINVAL,
				"sandbox layer \"%.*s\": must be "
				"LAYER=off, wanted or required",
				(int)(part < 100 ? part : 100), text);
		if (set(&changed, text, name, (enum capsid__level)level) == 0)
			return capsid__error_set(err, CAPSID_EINVAL,
				"sandbox layer \"%.*s\" does not exist",
				(int)(name < 100 ? name : 100), text);
		text += part;
		if (*text == ',' && *++text == '\0')
			return capsid__error_set(err, CAPSID_EINVAL,
				"sandbox layers end in a comma");
	}
	*levels = changed;
	return CAPSID_OK;
}

void capsid__layer_in_force(
	struct capsid__layer_status *status, enum capsid__layer layer)
{
	status->of[layer].state = CAPSID__LAYER_IN_FORCE;
	status->of[layer].os_errno = 0;
}

int capsid__layer_missing(struct capsid__layer_status *status,
	const struct capsid__levels *levels, enum capsid__layer layer,
	int os_errno, capsid_error *err)
{
	status->of[layer].state = CAPSID__LAYER_MISSING;
	status->of[layer].os_errno = os_errno;
	if (levels->of[layer] != CAPSID__LEVEL_REQUIRED)
		return CAPSID_OK;
	capsid__error_set(err, CAPSID_EUNSUPPORTED,
		"sandbox layer \"%s\" is required and missing (%s): %s",
		capsid__layer_name(layer),
		os_errno != 0 ? strerrordesc_np(os_errno) : "not possible here",
		capsid__layer_remedy(layer, os_errno));
	if (err != NULL)
		err->os_errno = os_errno;
	return CAPSID_EUNSUPPORTED;
}

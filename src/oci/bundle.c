/*
 * config.json of the OCI runtime specification, from a plan. One function a
 * part; each line that takes something away says what could be done with it.
 */
#include "oci/plan.h"
#include "sandbox/seccomp.h"
#include "json/print.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>

static void list(
	struct capsid__print *print, const char *name, char *const *texts)
{
	CAPSID__ADD(print, ",\"%s\":[", name);
	for (size_t i = 0; texts != NULL && texts[i] != NULL; i++) {
		CAPSID__ADD(print, "%s", i == 0 ? "" : ",");
		capsid__print_quote(print, texts[i]);
	}
	CAPSID__ADD(print, "]");
}

/* Limits that count from a process's own start are its guest's to set. A
 * lower one of the host's stays: nobody but root could raise it. */
static void limits(
	struct capsid__print *print, const struct capsid__oci_plan *plan)
{
	const struct capsid__sandbox_plan *sandbox = &plan->sandbox;
	bool first = true;

	CAPSID__ADD(print, ",\"rlimits\":[");
	for (size_t i = 0; i < sandbox->limit_count; i++) {
		const struct capsid__sandbox_limit *limit = &sandbox->limits[i];
		uint64_t value = limit->value;
		struct rlimit now;

		if (limit->base != CAPSID__BASE_NONE ||
			getrlimit((__rlimit_resource_t)limit->resource, &now) !=
				0)
			continue;
		if (now.rlim_max < value)
			value = now.rlim_max;
		CAPSID__ADD(print,
			"%s{\"type\":\"RLIMIT_%s\",\"hard\":%" PRIu64
			",\"soft\":%" PRIu64 "}",
			first ? "" : ",", limit->name, value, value);
		first = false;
	}
	CAPSID__ADD(print, "]");
}

static void process(
	struct capsid__print *print, const struct capsid__oci_plan *plan)
{
	/* nobody, also outside; an ordinary user can map no one but himself */
	uint32_t id = plan->uid == 0 ? CAPSID__SANDBOX_ID : 0;

	CAPSID__ADD(print,
		"\"process\":{\"terminal\":false,"
		"\"user\":{\"uid\":%" PRIu32 ",\"gid\":%" PRIu32 "},\"cwd\":",
		id, id);
	capsid__print_quote(
		print, plan->directory != NULL ? plan->directory : "/");
	list(print, "args", plan->arguments);
	list(print, "env", plan->environment);
	limits(print, plan);
	/* else: mounts, raw sockets, other people's files; and what a file's
	 * set-user-id bit would give back */
	CAPSID__ADD(print,
		",\"capabilities\":{\"bounding\":[],\"effective\":[],"
		"\"inheritable\":[],\"permitted\":[],\"ambient\":[]},"
		"\"noNewPrivileges\":true}");
}

const struct capsid__oci_device capsid__oci_devices[] = { { "null", 1, 3 },
	{ "zero", 1, 5 }, { "full", 1, 7 }, { "random", 1, 8 },
	{ "urandom", 1, 9 }, { NULL, 0, 0 } };

static void bind(struct capsid__print *print, const char *source,
	const char *destination, const char *options)
{
	CAPSID__ADD(print, ",{\"destination\":");
	capsid__print_quote(print, destination);
	CAPSID__ADD(print, ",\"type\":\"bind\",\"source\":");
	capsid__print_quote(print, source);
	CAPSID__ADD(
		print, ",\"options\":[\"bind\",\"ro\",\"nosuid\"%s]}", options);
}

/* A runtime's own /dev has the host's nodes in it, whose times and modes could
 * be changed: through ours they can only be opened. */
static void devices(struct capsid__print *print, const char *base)
{
	char path[4200];

	snprintf(path, sizeof(path), "%s/dev", base);
	bind(print, path, "/dev", ",\"nodev\",\"noexec\"");
	/* of all mounts these alone may hold devices */
	for (size_t i = 0; capsid__oci_devices[i].name != NULL; i++) {
		snprintf(path, sizeof(path), "/dev/%s",
			capsid__oci_devices[i].name);
		bind(print, path, path, ",\"noexec\"");
	}
}

static void mounts(struct capsid__print *print,
	const struct capsid__oci_plan *plan, const char *base)
{
	CAPSID__ADD(print,
		",\"mounts\":["
		"{\"destination\":\"/proc\",\"type\":\"proc\","
		"\"source\":\"proc\",\"options\":[\"nosuid\",\"noexec\","
		"\"nodev\"]},"
		/* the one place to write */
		"{\"destination\":\"/tmp\",\"type\":\"tmpfs\","
		"\"source\":\"tmpfs\",\"options\":[\"nosuid\",\"nodev\","
		"\"noexec\",\"mode=1777\",\"size=%" PRIu64
		"\",\"nr_inodes=%" PRIu64 "\"]}",
		plan->sandbox.tmp_bytes, plan->sandbox.tmp_inodes);
	devices(print, base);
	for (size_t i = 0; i < plan->mount_count; i++)
		bind(print, plan->mounts[i].source, plan->mounts[i].destination,
			",\"nodev\"");
	CAPSID__ADD(print, "]");
}

/* Root maps itself, to mount root's files, and nobody, who the guest is. */
static void ids(struct capsid__print *print, const char *name, uint32_t id)
{
	CAPSID__ADD(print,
		"\"%s\":[{\"containerID\":0,\"hostID\":%" PRIu32 ",\"size\":1}",
		name, id);
	if (id == 0)
		CAPSID__ADD(print,
			",{\"containerID\":%d,\"hostID\":%d,\"size\":1}",
			CAPSID__SANDBOX_ID, CAPSID__SANDBOX_ID);
	CAPSID__ADD(print, "]");
}

/* A device node that got into the container by whatever way opens nothing. */
static void allowed_devices(struct capsid__print *print)
{
	CAPSID__ADD(print, "\"devices\":[{\"allow\":false,\"access\":\"rwm\"}");
	for (size_t i = 0; capsid__oci_devices[i].name != NULL; i++)
		CAPSID__ADD(print,
			",{\"allow\":true,\"type\":\"c\",\"major\":%u,"
			"\"minor\":%u,\"access\":\"rw\"}",
			capsid__oci_devices[i].major,
			capsid__oci_devices[i].minor);
	CAPSID__ADD(print, "]");
}

/* The devices are named even without a cgroup: a runtime that finds one of its
 * own to use denies them there. */
static void resources(struct capsid__print *print,
	const struct capsid__oci_plan *plan,
	const struct capsid__oci_bundle *bundle)
{
	bool both = bundle->devices && bundle->cgroup != NULL;

	if (bundle->cgroup != NULL) {
		CAPSID__ADD(print, ",\"cgroupsPath\":");
		capsid__print_quote(print, bundle->cgroup);
	}
	CAPSID__ADD(print, ",\"resources\":{");
	if (bundle->devices)
		allowed_devices(print);
	/* swap is memory too; one processor's time, however many threads */
	if (bundle->cgroup != NULL)
		CAPSID__ADD(print,
			"%s\"memory\":{\"limit\":%" PRIu64
			"},\"pids\":{\"limit\":%" PRIu64
			"},\"cpu\":{\"period\":100000,\"quota\":100000}",
			both ? "," : "", plan->memory_bytes, plan->processes);
	CAPSID__ADD(print, "}");
}

static void isolation(struct capsid__print *print,
	const struct capsid__oci_plan *plan,
	const struct capsid__oci_bundle *bundle)
{
	CAPSID__ADD(print, ",\"linux\":{");
	ids(print, "uidMappings", plan->uid);
	CAPSID__ADD(print, ",");
	ids(print, "gidMappings", plan->uid == 0 ? 0 : plan->gid);
	/* network: a new one, with nothing in it */
	CAPSID__ADD(print,
		",\"namespaces\":[{\"type\":\"user\"},{\"type\":\"mount\"},"
		"{\"type\":\"pid\"},{\"type\":\"network\"},{\"type\":\"ipc\"},"
		"{\"type\":\"uts\"},{\"type\":\"cgroup\"}]");
	resources(print, plan, bundle);
	/* the machine's memory, keys, clocks and firmware */
	CAPSID__ADD(print,
		",\"maskedPaths\":[\"/proc/acpi\",\"/proc/asound\","
		"\"/proc/kcore\",\"/proc/keys\",\"/proc/latency_stats\","
		"\"/proc/sched_debug\",\"/proc/scsi\",\"/proc/timer_list\","
		"\"/proc/timer_stats\",\"/proc/sysrq-trigger\"]"
		",\"readonlyPaths\":[\"/proc/bus\",\"/proc/fs\","
		"\"/proc/irq\",\"/proc/sys\"],\"seccomp\":");
	print->ok = print->ok && capsid__seccomp_oci(print->out);
	CAPSID__ADD(print, "}");
}

bool capsid__oci_bundle_write(struct capsid__buf *out,
	const struct capsid__oci_plan *plan,
	const struct capsid__oci_bundle *bundle)
{
	struct capsid__print print = { out, true, true };
	char rootfs[4200];

	snprintf(rootfs, sizeof(rootfs), "%s/rootfs", bundle->base);
	CAPSID__ADD(&print, "{\"ociVersion\":\"1.0.2\",");
	process(&print, plan);
	CAPSID__ADD(&print, ",\"root\":{\"path\":");
	capsid__print_quote(
		&print, plan->rootfs != NULL ? plan->rootfs : rootfs);
	CAPSID__ADD(&print, ",\"readonly\":true},\"hostname\":\"capsid\"");
	mounts(&print, plan, bundle->base);
	isolation(&print, plan, bundle);
	CAPSID__ADD(&print, "}\n");
	return print.ok;
}

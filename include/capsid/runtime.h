/*
 * The runtime: configuration that every run shares, the threads that step
 * programs, and the pool of ready isolates.
 *
 * Threads: every function here may be called from any thread, but
 * capsid_runtime_free only when no other call on the same runtime is under
 * way. A runtime does not survive fork(): make it after, not before.
 */
#ifndef CAPSID_RUNTIME_H
#define CAPSID_RUNTIME_H

#include <capsid/api.h>
#include <capsid/error.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct capsid_runtime capsid_runtime;

/* Flags of capsid_config. */
#define CAPSID_ERASABLE_ONLY 1u /* refuse enum, namespace, parameter props */

/*
 * Configuration. Start from CAPSID_CONFIG_INIT, which fills in the defaults
 * of the contract, and change what you need; a value out of range makes
 * capsid_runtime_new fail with CAPSID_EINVAL and a message that names the
 * field, the rule and the value. Copied: nothing need outlive the call.
 */
typedef struct capsid_config {
	size_t size; /* set by CAPSID_CONFIG_INIT; do not touch */

	/* "typescript", "javascript" (its text is run as it is), or "python"
	 * (not on "worker-thread"). With a guest of your own: any name of up
	 * to 32 lower-case letters, digits and dashes; the types are taken off
	 * "typescript" before it gets there. */
	const char *language;
	/* "worker-thread": the program shares this process, behind software
	 * fault isolation. "process": it has a sandboxed process of its own,
	 * forked ahead of need from capsid-guest. "container": it has an OCI
	 * container of its own, made ahead of need. "workerd": it has a
	 * workerd of its own, in the sandbox of "process", as a Worker on
	 * Cloudflare would run it. "worker": it runs in a Worker elsewhere,
	 * whose own limits hold beside these. */
	const char *isolation;

	/* Busy CPU time of one program, in milliseconds: 1 to 2^53-1. Waiting
	 * for a call or a timer costs nothing. */
	int64_t compute_ms;
	/* Wall clock of one run, in milliseconds: 1 to 2 147 483 647. */
	int64_t max_wall_ms;
	/* Bytes of JSON(logs) + JSON(value or message): 4 to 2^53-1. */
	int64_t max_output_bytes;
	/* Guest heap in MiB: 8 to 3 584. */
	int64_t max_heap_mb;

	uint32_t flags; /* CAPSID_* above */

	/* Threads that step programs begun with capsid_run_start: 1 to 256;
	 * 0 means one a processor. capsid_run uses its caller's thread. */
	uint32_t threads;

	/* What follows is each of some isolations, and NULL on the others:
	 * else CAPSID_EINVAL, since it would do nothing there. All may be
	 * NULL. */

	/* Of "process" and "container", the first two of "workerd" as well.
	 * On a container with an image of its own the image has the guest and
	 * its modules: only "cgroup" of `sandbox` may be set then. */

	/* The capsid-guest (of Python: capsid-guest-python) to execute; NULL:
	 * the one that is installed with this library. */
	const char *guest_path;
	/* Sandbox layers to require, want or leave off, as in
	 * "landlock=required,cgroup=off"; NULL: the defaults. A layer that is
	 * required and missing makes capsid_runtime_new fail with
	 * CAPSID_EUNSUPPORTED and a message that names it. */
	const char *sandbox;
	/* Python: absolute folders to import from, which every program may
	 * read; and modules to import ahead of every run, which may start no
	 * threads. NULL-terminated. */
	const char *const *module_paths;
	const char *const *preload;

	/* Of "container" alone. */

	/* A root file system: a directory, or the directory of an OCI image
	 * layout, which is unpacked once, within the limits that the
	 * environment sets (docs/cli.md). Neither gives devices or
	 * set-user-id bits. NULL: this machine's capsid-guest and what it
	 * needs, read-only. */
	const char *image;
	/* The OCI runtime: a name that is looked for where programs are
	 * ("runc"), or a path. NULL: the first that works of crun, runc,
	 * runsc and kata-runtime. An image or a runtime that is not there or
	 * does not work is CAPSID_ESYS and a message that says why. */
	const char *oci_runtime;

	/* Of "process" alone: an executable that speaks
	 * docs/guest-protocol.md, in place of the
	 * engines that Capsid brings: an absolute path, of a program or of a
	 * script with a first line #!. It is executed in the sandbox, once a
	 * run, and finds there its own folder, its interpreter's and, of the
	 * machine, /usr, all read-only. NULL: none. */
	const char *guest;

	/* Of "worker" alone, both must be there: the address of a Worker that
	 * runs programs for others, "wss://NAME/run" (or ws://), and the token
	 * that it wants (its CAPSID_TOKEN). A Worker that is not there or does
	 * not take the token is CAPSID_ESYS when the runtime is made; so is one
	 * that redirects: the token goes to this address alone. Both are
	 * printable ASCII without a space, and the address holds no name or
	 * password. wss trusts what SSL_CERT_FILE and SSL_CERT_DIR of the
	 * environment name, else the machine's authorities. */
	const char *worker_url;
	const char *worker_token;

	/* Of every isolation. */

	/* Bytes of one call's argument as JSON text: 1 024 to 2^53-1. A longer
	 * one rejects that call, with a message that names the limit. */
	int64_t max_argument_bytes;
	/* JSON values (each scalar, array and object; keys do not count) that
	 * one call's argument or the completion value may hold, and all
	 * arguments of a run's unanswered calls together: 1 000 to 2^32-1, or 0
	 * for no limit. For an embedder that makes objects out of the text,
	 * which are larger than it. A call over the limit is rejected; a value
	 * over it ends the run as `output-limit`. */
	int64_t max_values;
} capsid_config;

/* clang-format off */
#define CAPSID_CONFIG_INIT                                                     \
	{ sizeof(capsid_config), "typescript", "worker-thread", 60000,         \
	  600000, 67108864, 512, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL,     \
	  NULL, NULL, NULL, 16777216, 0 }
/* clang-format on */

/*
 * Makes a runtime. *out is owned by the caller: free it with
 * capsid_runtime_free. Errors: CAPSID_EINVAL, CAPSID_EUNSUPPORTED (an
 * unknown language or isolation; the message lists the known ones),
 * CAPSID_ENOMEM, CAPSID_ESYS.
 */
CAPSID_API int capsid_runtime_new(
	capsid_runtime **out, const capsid_config *config, capsid_error *err);

/*
 * Ends every run of this runtime as `abort` "runtime disposed", waits until
 * every isolate is gone and every done callback has returned, and makes later
 * runs fail with CAPSID_EDISPOSED "run() after disposal". Again: no effect.
 * Not from inside a callback of the same runtime.
 */
CAPSID_API void capsid_runtime_dispose(capsid_runtime *runtime);

/* Disposes and frees. NULL is fine. */
CAPSID_API void capsid_runtime_free(capsid_runtime *runtime);

/* Borrowed until the runtime is freed. */
CAPSID_API const char *capsid_runtime_language(const capsid_runtime *runtime);
CAPSID_API const char *capsid_runtime_isolation(const capsid_runtime *runtime);

#ifdef __cplusplus
}
#endif

#endif

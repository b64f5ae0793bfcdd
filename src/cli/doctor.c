/*
 * `capsid doctor`: which layers of a process's sandbox this machine gives, why
 * one is missing and what to do; or, with --plan, what a sandbox will be. The
 * one subcommand that looks below the public API, because the sandbox has to
 * be tried from a process without threads. One line a layer.
 */
#include "base/buf.h"
#include "cli/cli.h"
#include "sandbox/cgroup.h"
#include "sandbox/sandbox.h"
#include "json/quote.h"

#include <stdio.h>
#include <string.h>

/* What was found. */
struct findings {
	const struct capsid__sandbox_plan *plan;
	struct capsid__layer_status status;
	/* Of the cgroup: what it has, or why there is none. */
	char cgroup[256];
	/* A language was not asked for, and one is not there: why. */
	const char *note;
};

static int out_of_memory(void)
{
	capsid__cli_complain("out of memory");
	return CAPSID__CLI_HOST;
}

static int print(struct capsid__buf *text, bool ok, bool json)
{
	int status = ok ? capsid__cli_print(text->data, text->len,
				  json ? CAPSID__CLI_JSON : CAPSID__CLI_OWN)
			: out_of_memory();

	capsid__buf_done(text);
	return status;
}

/* A name or a message that is not ours. */
static bool show(struct capsid__buf *out, const char *text)
{
	return capsid__cli_show(out, text, strlen(text), CAPSID__VISIBLE_LINE);
}

/* A cgroup is made by the host and not by the zygote: it is tried here. */
static void probe_cgroup(struct findings *findings)
{
	const struct capsid__cgroup_limits limits = { 64 << 20, 16 };
	struct capsid__cgroups *cgroups = NULL;
	struct capsid__cgroup *cgroup = NULL;
	capsid_error err;
	int code = capsid__cgroups_open(&cgroups, NULL, &limits, &err);

	if (code == CAPSID_OK)
		code = capsid__cgroup_take(&cgroup, cgroups, &err);
	if (code == CAPSID_OK) {
		capsid__layer_in_force(&findings->status, CAPSID__LAYER_CGROUP);
		snprintf(findings->cgroup, sizeof(findings->cgroup), "%s",
			capsid__cgroups_controllers(cgroups));
	} else {
		findings->status.of[CAPSID__LAYER_CGROUP].state =
			CAPSID__LAYER_MISSING;
		findings->status.of[CAPSID__LAYER_CGROUP].os_errno =
			err.os_errno;
		snprintf(findings->cgroup, sizeof(findings->cgroup), "%.255s",
			err.message);
	}
	if (cgroup != NULL)
		capsid__cgroup_give(cgroups, cgroup);
	capsid__cgroups_close(cgroups);
}

static const char *state_name(
	const struct findings *findings, enum capsid__layer layer)
{
	if (findings->plan->levels.of[layer] == CAPSID__LEVEL_OFF)
		return "off";
	return findings->status.of[layer].state == CAPSID__LAYER_IN_FORCE
		       ? "ok"
		       : "missing";
}

/* Why it is missing, or what there is to say of one that is there. */
static void detail(char *out, size_t size, const struct findings *findings,
	enum capsid__layer layer)
{
	int os_errno = findings->status.of[layer].os_errno;
	bool there = findings->status.of[layer].state == CAPSID__LAYER_IN_FORCE;

	if (layer == CAPSID__LAYER_CGROUP)
		snprintf(out, size, "%s", findings->cgroup);
	else if (there && layer == CAPSID__LAYER_LANDLOCK)
		snprintf(out, size, "version %d of its interface",
			(int)findings->status.landlock_abi);
	else if (there)
		snprintf(out, size, "%s", capsid__layer_purpose(layer));
	else
		snprintf(out, size, "%s",
			os_errno != 0 ? strerrordesc_np(os_errno)
				      : "not tried: another one is missing");
}

static bool complete(const struct findings *findings)
{
	for (int i = 0; i < CAPSID__LAYERS; i++) {
		if (findings->plan->levels.of[i] == CAPSID__LEVEL_REQUIRED &&
			findings->status.of[i].state != CAPSID__LAYER_IN_FORCE)
			return false;
	}
	return true;
}

static bool missing(const struct findings *findings, enum capsid__layer layer)
{
	return strcmp(state_name(findings, layer), "missing") == 0;
}

static bool text_line(struct capsid__buf *out, const struct findings *findings,
	enum capsid__layer layer)
{
	char why[300];

	detail(why, sizeof(why), findings, layer);
	if (!capsid__buf_printf(out, "%-8s %-13s %-9s ",
		    state_name(findings, layer), capsid__layer_name(layer),
		    capsid__level_name(findings->plan->levels.of[layer])) ||
		!show(out, why))
		return false;
	if (missing(findings, layer) &&
		!capsid__buf_printf(out, "; to do: %s",
			capsid__layer_remedy(
				layer, findings->status.of[layer].os_errno)))
		return false;
	return capsid__buf_append_byte(out, '\n');
}

static int print_text(const struct findings *findings)
{
	struct capsid__buf out = { 0 };
	bool ok = true;

	if (findings->note != NULL)
		ok = capsid__buf_append_text(&out, "missing  python: ") &&
		     show(&out, findings->note) &&
		     capsid__buf_append_byte(&out, '\n');
	for (int i = 0; ok && i < CAPSID__LAYERS; i++)
		ok = text_line(&out, findings, (enum capsid__layer)i);
	ok = ok && capsid__buf_append_text(&out, "isolation process, ") &&
	     show(&out, findings->plan->language) &&
	     capsid__buf_printf(&out, ": %s\n",
		     complete(findings) ? "every required layer is there"
					: "a required layer is missing");
	return print(&out, ok, false);
}

static bool member(struct capsid__buf *out, const char *name, const char *text)
{
	return capsid__buf_printf(out, ",\"%s\":", name) &&
	       capsid__json_quote(out, text, strlen(text));
}

static bool json_layer(struct capsid__buf *out, const struct findings *findings,
	enum capsid__layer layer)
{
	char why[300];
	bool ok;

	detail(why, sizeof(why), findings, layer);
	ok = capsid__buf_printf(
		     out, "{\"name\":\"%s\"", capsid__layer_name(layer)) &&
	     member(out, "level",
		     capsid__level_name(findings->plan->levels.of[layer])) &&
	     member(out, "state", state_name(findings, layer)) &&
	     member(out, missing(findings, layer) ? "why" : "detail", why);
	if (ok && missing(findings, layer))
		ok = member(out, "todo",
			capsid__layer_remedy(
				layer, findings->status.of[layer].os_errno));
	return ok && capsid__buf_append_byte(out, '}');
}

static int print_json(const struct findings *findings)
{
	struct capsid__buf out = { 0 };
	bool ok = capsid__buf_append_text(&out, "{\"isolation\":\"process\"") &&
		  member(&out, "language", findings->plan->language) &&
		  capsid__buf_printf(&out, ",\"ok\":%s,\"layers\":[",
			  complete(findings) ? "true" : "false");

	for (int i = 0; ok && i < CAPSID__LAYERS; i++)
		ok = (i == 0 || capsid__buf_append_byte(&out, ',')) &&
		     json_layer(&out, findings, (enum capsid__layer)i);
	ok = ok && capsid__buf_append_text(&out, "]}\n");
	return print(&out, ok, true);
}

static int print_plan(const struct capsid__sandbox_plan *plan, bool json)
{
	struct capsid__buf out = { 0 };
	bool ok = capsid__sandbox_plan_print(&out, plan, json);

	return print(&out, ok, json);
}

static int diagnose(const struct capsid__cli_options *options,
	const struct capsid__sandbox_plan *plan, const char *note)
{
	struct findings findings = { .plan = plan, .note = note };
	capsid_error err;
	int status;

	if (capsid__sandbox_probe(&findings.status, plan, &err) != CAPSID_OK) {
		capsid__cli_complain("%s", err.message);
		return CAPSID__CLI_HOST;
	}
	probe_cgroup(&findings);
	status = options->json ? print_json(&findings) : print_text(&findings);
	if (status != CAPSID__CLI_OK)
		return status;
	return complete(&findings) ? CAPSID__CLI_OK : CAPSID__CLI_FAILED;
}

int capsid__cli_doctor(const struct capsid__cli_options *options)
{
	struct capsid__sandbox_options wanted = {
		.language = options->language != NULL ? options->language
						      : "python",
		.heap_mb = options->heap_mb != 0 ? (uint64_t)options->heap_mb
						 : 512,
		.exec = options->guest,
	};
	struct capsid__sandbox_plan plan;
	capsid_error err, other;
	int code, status;

	if (options->isolation != NULL &&
		strcmp(options->isolation, "container") == 0) {
		if (options->guest != NULL)
			return capsid__cli_usage("doctor",
				"--guest wants --isolation process: a "
				"container's own guest is in its --image");
		return capsid__cli_doctor_container(options);
	}
	if (options->image != NULL || options->oci_runtime != NULL)
		return capsid__cli_usage("doctor",
			"--image and --oci-runtime want --isolation container");
	if (options->isolation != NULL &&
		strcmp(options->isolation, "process") != 0)
		return capsid__cli_usage("doctor",
			"doctor knows the isolations \"process\" and "
			"\"container\", got \"%.100s\"",
			options->isolation);
	code = capsid__sandbox_plan(&plan, &wanted, &err);
	if (code == CAPSID_EUNSUPPORTED && options->language == NULL) {
		/* The layers are the same for every language. */
		wanted.language = "typescript";
		if (capsid__sandbox_plan(&plan, &wanted, &other) != CAPSID_OK) {
			capsid__cli_complain("%s", other.message);
			return CAPSID__CLI_FAILED;
		}
	} else if (code != CAPSID_OK) {
		capsid__cli_complain("%s", err.message);
		return code == CAPSID_EINVAL ? CAPSID__CLI_USAGE
					     : CAPSID__CLI_FAILED;
	}
	if (options->plan)
		status = print_plan(&plan, options->json);
	else
		status = diagnose(
			options, &plan, code == CAPSID_OK ? NULL : err.message);
	capsid__sandbox_plan_done(&plan);
	return status;
}

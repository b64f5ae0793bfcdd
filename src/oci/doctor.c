/*
 * Which OCI runtime works here is found by having each make a container; what
 * does not work is printed with what it said and what to do.
 */
#include "oci/doctor.h"

#include "base/auto.h"
#include "base/buf.h"
#include "oci/image.h"
#include "oci/keeper.h"
#include "oci/runtime.h"
#include "json/quote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATUS_MISSING 1
#define STATUS_USAGE 2
#define STATUS_HOST 125

static int complain(const char *text)
{
	fprintf(stderr, "capsid: %s\n", text);
	return STATUS_HOST;
}

static int prepare(
	struct capsid__oci_plan *out, const struct capsid__oci_options *options)
{
	CAPSID__AUTO_FREE char *unpacked = NULL;
	capsid_error err;
	int code = 0;

	if (options->image != NULL)
		code = capsid__oci_image(&unpacked, options->image, &err);
	if (code == 0)
		code = capsid__oci_plan(out, options, unpacked, &err);
	if (code == 0)
		return 0;
	complain(err.message);
	return code == CAPSID_EINVAL ? STATUS_USAGE : STATUS_HOST;
}

static void text_line(const char *name, const struct capsid__oci_trial *trial)
{
	if (trial->failure[0] != '\0')
		printf("missing  %-13s %s\n", name, trial->failure);
	else if (trial->limits)
		printf("ok       %-13s %s, with limits on memory, processes "
		       "and CPU\n",
			name, trial->path);
	else
		printf("ok       %-13s %s, without a cgroup's limits: %s; to "
		       "do: %s\n",
			name, trial->path, trial->why_not,
			capsid__oci_remedy(name, "cgroup"));
}

static bool member(struct capsid__buf *out, const char *name, const char *text)
{
	return capsid__buf_printf(out, ",\"%s\":", name) &&
	       capsid__json_quote(out, text, strlen(text));
}

static bool json_item(struct capsid__buf *out, const char *name,
	const struct capsid__oci_trial *trial)
{
	bool works = trial->failure[0] == '\0';
	bool ok = capsid__buf_printf(
			  out, "%s{\"name\":", out->len != 0 ? "," : "") &&
		  capsid__json_quote(out, name, strlen(name)) &&
		  member(out, "state", works ? "ok" : "missing");

	if (ok && !works)
		ok = member(out, "why", trial->failure);
	if (ok && works)
		ok = member(out, "path", trial->path) &&
		     capsid__buf_printf(out, ",\"limits\":%s",
			     trial->limits ? "true" : "false");
	if (ok && works && !trial->limits)
		ok = member(out, "why", trial->why_not) &&
		     member(out, "todo", capsid__oci_remedy(name, "cgroup"));
	return ok && capsid__buf_append_byte(out, '}');
}

static bool print_json(const struct capsid__oci_options *options,
	const char *first, const struct capsid__buf *items)
{
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf language = { 0 };
	bool ok = member(&language, "language", options->language) &&
		  capsid__buf_append_byte(&language, '\0');

	if (ok)
		printf("{\"isolation\":\"container\"%s,\"ok\":%s,"
		       "\"runtimes\":[%.*s]}\n",
			language.data, first != NULL ? "true" : "false",
			(int)items->len, items->len != 0 ? items->data : "");
	return ok;
}

int capsid__oci_doctor(const struct capsid__oci_options *options, bool json)
{
	const char *const named[] = { options->runtime, NULL };
	const char *const *name =
		options->runtime != NULL ? named : capsid__oci_runtimes;
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf items = { 0 };
	const char *first = NULL;
	struct capsid__oci_options booted = *options;
	struct capsid__oci_plan plan;
	char boot[120];
	bool ok = true;
	int status;

	snprintf(boot, sizeof(boot),
		"{\"type\":\"boot\",\"protocol\":1,\"maxOutputBytes\":65536,"
		"\"maxHeapMb\":%llu}\n",
		(unsigned long long)options->heap_mb);
	booted.boot = boot;
	status = prepare(&plan, &booted);
	if (status != 0)
		return status;
	for (; ok && *name != NULL; name++) {
		struct capsid__oci_trial trial;

		capsid__oci_try(&trial, &plan, *name);
		if (first == NULL && trial.failure[0] == '\0')
			first = *name;
		if (json)
			ok = json_item(&items, *name, &trial);
		else
			text_line(*name, &trial);
	}
	if (json)
		ok = ok && print_json(options, first, &items);
	else if (first != NULL)
		printf("isolation container, %s: %s is used\n",
			options->language, first);
	else
		printf("isolation container, %s: no OCI runtime works here\n",
			options->language);
	capsid__oci_plan_done(&plan);
	if (!ok || fflush(stdout) != 0)
		return complain("cannot print what was found");
	return first != NULL ? 0 : STATUS_MISSING;
}

int capsid__oci_print(const struct capsid__oci_options *options)
{
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf text = { 0 };
	struct capsid__oci_plan plan;
	int status = prepare(&plan, options);
	/* names that each run has of its own are given by their sense */
	struct capsid__oci_bundle bundle = { .base = "/run/capsid/KEEPER",
		.cgroup = "capsid-KEEPER-CONTAINER",
		.devices = true };
	bool ok;

	if (status != 0)
		return status;
	if (plan.cgroup_off)
		bundle.cgroup = NULL;
	ok = capsid__oci_bundle_write(&text, &plan, &bundle);
	ok = ok && fwrite(text.data, 1, text.len, stdout) == text.len &&
	     fflush(stdout) == 0;
	capsid__oci_plan_done(&plan);
	return ok ? 0 : complain("cannot print the plan");
}

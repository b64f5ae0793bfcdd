/*
 * Which OCI runtime works here is found by having each make a container; what
 * does not work is printed with what it said and what to do.
 */
#include "oci/doctor.h"

#include "base/auto.h"
#include "base/visible.h"
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

/* A name or a message as one line that hides nothing; the caller's. */
static char *shown(const char *text)
{
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf line = { 0 };

	return capsid__visible_append(
		       &line, text, strlen(text), CAPSID__VISIBLE_LINE)
		       ? capsid__buf_take(&line, NULL)
		       : NULL;
}

static const char *or_none(const char *text)
{
	return text != NULL ? text : "(out of memory)";
}

static int complain(const char *text)
{
	CAPSID__AUTO_FREE char *line = shown(text);

	fprintf(stderr, "capsid: %s\n", or_none(line));
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
	CAPSID__AUTO_FREE char *runtime = shown(name);
	CAPSID__AUTO_FREE char *failure = shown(trial->failure);
	CAPSID__AUTO_FREE char *path = shown(trial->path);
	CAPSID__AUTO_FREE char *why = shown(trial->why_not);

	if (trial->failure[0] != '\0')
		printf("missing  %-13s %s\n", or_none(runtime),
			or_none(failure));
	else if (trial->limits)
		printf("ok       %-13s %s, with limits on memory, processes "
		       "and CPU\n",
			or_none(runtime), or_none(path));
	else
		printf("ok       %-13s %s, without a cgroup's limits: %s; to "
		       "do: %s\n",
			or_none(runtime), or_none(path), or_none(why),
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

static void print_use(const char *language, const char *first)
{
	CAPSID__AUTO_FREE char *of = shown(language);
	CAPSID__AUTO_FREE char *runtime = shown(first != NULL ? first : "");

	printf("isolation container, %s: %s%s\n", or_none(of), or_none(runtime),
		first != NULL ? " is used" : "no OCI runtime works here");
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
	else
		print_use(options->language, first);
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

/*
 * A plan, for a person and as JSON. Every field that is applied is printed.
 */
#include "json/print.h"
#include "base/visible.h"
#include "sandbox/plan.h"
#include "sandbox/seccomp.h"

#include <inttypes.h>
#include <string.h>

/* A name on a line of its own, which it cannot leave. */
static void add_name(struct capsid__print *print, const char *name)
{
	print->ok = print->ok && capsid__visible_append(print->out, name,
					 strlen(name), CAPSID__VISIBLE_LINE);
}

static void layers(
	struct capsid__print *print, const struct capsid__sandbox_plan *plan)
{
	CAPSID__ADD(print, print->json ? ",\"layers\":{" : "layers\n");
	for (int i = 0; i < CAPSID__LAYERS; i++) {
		enum capsid__layer layer = (enum capsid__layer)i;
		const char *level = capsid__level_name(plan->levels.of[i]);

		if (print->json)
			CAPSID__ADD(print, "%s\"%s\":\"%s\"", i == 0 ? "" : ",",
				capsid__layer_name(layer), level);
		else
			CAPSID__ADD(print, "  %-13s %-9s %s\n",
				capsid__layer_name(layer), level,
				capsid__layer_purpose(layer));
	}
	CAPSID__ADD(print, print->json ? "}" : "");
	if (plan->late)
		CAPSID__ADD(print,
			print->json ? ",\"late\":[\"landlock\",\"seccomp\"]"
				    : "  landlock and seccomp are put on when "
				      "the child has connected\n");
}

static void files(
	struct capsid__print *print, const struct capsid__sandbox_plan *plan)
{
	CAPSID__ADD(print, print->json ? ",\"readOnly\":[" : "files\n");
	for (size_t i = 0; i < plan->mount_count; i++) {
		if (print->json) {
			CAPSID__ADD(print, "%s", i == 0 ? "" : ",");
			capsid__print_quote(print, plan->mounts[i].path);
		} else {
			CAPSID__ADD(print, "  read-only     ");
			add_name(print, plan->mounts[i].path);
			CAPSID__ADD(print, "\n");
		}
	}
	CAPSID__ADD(print, print->json ? "]" : "");
	if (!plan->files) {
		CAPSID__ADD(print,
			print->json ? ",\"devices\":[],\"tmp\":null"
				    : "  nothing else: no /tmp, no /dev\n");
		return;
	}
	if (print->json)
		CAPSID__ADD(print,
			",\"devices\":[\"null\",\"zero\",\"full\",\"random\","
			"\"urandom\"],\"tmp\":{\"bytes\":%" PRIu64
			",\"inodes\":%" PRIu64
			",\"flags\":\"nosuid,nodev,noexec\"}",
			plan->tmp_bytes, plan->tmp_inodes);
	else
		CAPSID__ADD(print,
			"  devices       /dev/null zero full random urandom\n"
			"  private       /tmp: %" PRIu64 " bytes, %" PRIu64
			" inodes, nosuid nodev noexec\n"
			"  nothing else: no /proc, no /sys, no /etc\n",
			plan->tmp_bytes, plan->tmp_inodes);
}

static void limits(
	struct capsid__print *print, const struct capsid__sandbox_plan *plan)
{
	static const char *const bases[] = { "", " over its start",
		" over its start" };

	CAPSID__ADD(print, print->json ? ",\"limits\":{" : "limits\n");
	for (size_t i = 0; i < plan->limit_count; i++) {
		const struct capsid__sandbox_limit *limit = &plan->limits[i];

		if (print->json)
			CAPSID__ADD(print, "%s\"%s\":%" PRIu64,
				i == 0 ? "" : ",", limit->name, limit->value);
		else
			CAPSID__ADD(print, "  %-13s %" PRIu64 "%s\n",
				limit->name, limit->value, bases[limit->base]);
	}
	CAPSID__ADD(print, print->json ? "}" : "");
}

/* As the filter takes it for this plan. */
static enum capsid__syscall_action action_of(const struct capsid__syscall *call,
	const struct capsid__sandbox_plan *plan)
{
	if (plan->executed && strcmp(call->name, "execve") == 0)
		return CAPSID__SYSCALL_ALLOW;
	if (call->action == CAPSID__SYSCALL_EXECUTED)
		return plan->executed ? CAPSID__SYSCALL_ALLOW
				      : CAPSID__SYSCALL_EPERM;
	return call->files && !plan->files ? CAPSID__SYSCALL_EPERM
					   : call->action;
}

static void calls_of(struct capsid__print *print,
	const struct capsid__sandbox_plan *plan,
	enum capsid__syscall_action action)
{
	size_t column = 0, count = 0;

	for (const struct capsid__syscall *call = capsid__syscalls;
		call->name != NULL; call++) {
		if (action_of(call, plan) != action)
			continue;
		if (print->json) {
			CAPSID__ADD(print, "%s\"%s\"", count++ == 0 ? "" : ",",
				call->name);
			continue;
		}
		if (column + strlen(call->name) > 62) {
			CAPSID__ADD(print, "\n%15s", "");
			column = 0;
		}
		CAPSID__ADD(print, " %s", call->name);
		column += strlen(call->name) + 1;
	}
}

static void calls(
	struct capsid__print *print, const struct capsid__sandbox_plan *plan)
{
	CAPSID__ADD(print, print->json ? ",\"calls\":{" : "system calls\n");
	for (int i = CAPSID__SYSCALL_ALLOW; i <= CAPSID__SYSCALL_TRAP; i++) {
		enum capsid__syscall_action action =
			(enum capsid__syscall_action)i;
		const char *name = capsid__syscall_action_name(action);

		if (print->json)
			CAPSID__ADD(
				print, "%s\"%s\":[", i == 0 ? "" : ",", name);
		else
			CAPSID__ADD(print, "  %-13s", name);
		calls_of(print, plan, action);
		CAPSID__ADD(print, print->json ? "]" : "\n");
	}
	if (print->json)
		CAPSID__ADD(print, ",\"newCode\":%s}",
			plan->new_code ? "true" : "false");
	else
		CAPSID__ADD(print, "%s  new code      %s\n",
			plan->executed
				? "  eperm         every other one, too\n"
				: "  kill          every other one; the "
				  "failure names it\n",
			plan->new_code ? "may be mapped" : "eperm");
}

bool capsid__sandbox_plan_print(struct capsid__buf *out,
	const struct capsid__sandbox_plan *plan, bool json)
{
	struct capsid__print print = { out, json, true };

	if (json) {
		CAPSID__ADD(&print, "{\"language\":");
		capsid__print_quote(&print, plan->language);
		CAPSID__ADD(&print, ",\"id\":%d", CAPSID__SANDBOX_ID);
	} else {
		add_name(&print, plan->language);
		CAPSID__ADD(&print, ", as id %d\n", CAPSID__SANDBOX_ID);
	}
	layers(&print, plan);
	files(&print, plan);
	limits(&print, plan);
	calls(&print, plan);
	CAPSID__ADD(&print, json ? "}\n" : "");
	return print.ok;
}

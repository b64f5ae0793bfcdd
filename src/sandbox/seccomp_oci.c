/*
 * The same rules as the "seccomp" of an OCI bundle. What is on no list does
 * not exist there (ENOSYS): whatever the guest's language is, it goes on.
 */
#include "sandbox/seccomp_rules.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

struct print {
	struct capsid__buf *out;
	bool first;
};

static const char *action_name(uint32_t action)
{
	return action == SCMP_ACT_ALLOW ? "SCMP_ACT_ALLOW" : "SCMP_ACT_ERRNO";
}

static const char *comparison_name(enum scmp_compare op)
{
	switch (op) {
	case SCMP_CMP_LT:
		return "SCMP_CMP_LT";
	case SCMP_CMP_EQ:
		return "SCMP_CMP_EQ";
	case SCMP_CMP_MASKED_EQ:
		return "SCMP_CMP_MASKED_EQ";
	default:
		return NULL;
	}
}

static bool add_arguments(struct capsid__buf *out, unsigned count,
	const struct scmp_arg_cmp *args)
{
	bool ok = capsid__buf_append_text(out, ",\"args\":[");

	for (unsigned i = 0; ok && i < count; i++) {
		const char *op = comparison_name(args[i].op);

		ok = op != NULL &&
		     capsid__buf_printf(out,
			     "%s{\"index\":%u,\"value\":%" PRIu64
			     ",\"valueTwo\":%" PRIu64 ",\"op\":\"%s\"}",
			     i == 0 ? "" : ",", args[i].arg, args[i].datum_a,
			     args[i].datum_b, op);
	}
	return ok && capsid__buf_append_byte(out, ']');
}

/* A call that this libseccomp has no name for is left to the default, which
 * says what it is meant to say. */
static int add(struct capsid__rules *rules, uint32_t action, int number,
	unsigned count, const struct scmp_arg_cmp *args)
{
	struct print *print = rules->payload;
	char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number);
	bool ok;

	if (name == NULL)
		return action == SCMP_ACT_ALLOW ? -ENOSYS : 0;
	ok = capsid__buf_printf(print->out,
		"%s{\"names\":[\"%s\"],\"action\":\"%s\"",
		print->first ? "" : ",", name, action_name(action));
	if (ok && action != SCMP_ACT_ALLOW)
		ok = capsid__buf_printf(
			print->out, ",\"errnoRet\":%u", action & 0xffff);
	if (ok && count > 0)
		ok = add_arguments(print->out, count, args);
	ok = ok && capsid__buf_append_byte(print->out, '}');
	print->first = false;
	free(name);
	return ok ? 0 : -ENOMEM;
}

bool capsid__seccomp_oci(struct capsid__buf *out)
{
	struct print print = { out, true };
	struct capsid__rules rules = { .add = add,
		.payload = &print,
		.files = true,
		.new_code = true,
		.outer = true };

	return capsid__buf_printf(out,
		       "{\"defaultAction\":\"SCMP_ACT_ERRNO\","
		       "\"defaultErrnoRet\":%d,\"architectures\":"
		       "[\"SCMP_ARCH_X86_64\"],\"syscalls\":[",
		       ENOSYS) &&
	       capsid__rules_make(&rules) == 0 &&
	       capsid__buf_append_text(out, "]}");
}

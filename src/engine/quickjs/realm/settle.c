/*
 * Settling: the outcome is sent once, and the guest's own meter of the outer
 * output spares the host what could not be kept anyway. The host's meter is
 * the one that decides.
 */
#include "engine/quickjs/realm/realm.h"

static bool is_settled;
static bool any_log;
static uint64_t left; /* bytes of outer output still to be had */

void settle_begin(uint64_t output_bytes)
{
	left = output_bytes > 2 ? output_bytes - 2 : 0; /* for "[]" */
}

bool settled(void)
{
	return is_settled;
}

static void overflow(void)
{
	write_drop();
	is_settled = true;
	host_send(WIRE_OVERFLOW, 0, NULL, 0);
}

void settle_log(const char *text, size_t len)
{
	uint64_t cost = any_log;

	if (is_settled)
		return;
	if (len > left + 4) {
		/* one character too many: the host fills its ledger to the
		 * brim and sees that more was to come */
		len = (size_t)left + 4;
		while (((unsigned char)text[len] & 0xC0) == 0x80)
			len--;
	}
	write_begin(WRITE_ANY);
	write_quoted_until(text, len, left + 4);
	cost += write_count();
	write_send(WIRE_LOG, 0);
	any_log = true;
	if (cost > left)
		overflow();
	else
		left -= cost;
}

void settle_completion(JSContext *ctx, JSValue value)
{
	static const char lossy[] = "program completion must be lossless JSON";
	const char *why;
	size_t why_len;

	if (is_settled)
		return;
	if (JS_Tag(value) == JS_TAG_UNDEFINED) {
		is_settled = true;
		host_send(WIRE_NOTHING, 0, NULL, 0);
		return;
	}
	write_begin(left);
	if (!walk_value(ctx, value, &why, &why_len)) {
		char text[640];
		size_t len = sizeof(lossy) - 1;

		write_drop();
		memcpy(text, lossy, len);
		memcpy(text + len, ": ", 2);
		memcpy(text + len + 2, why, why_len);
		write_begin(WRITE_ANY);
		write_quoted(text, len + 2 + why_len);
		is_settled = true;
		write_send(WIRE_INVALID, 0);
		return;
	}
	if (write_over()) {
		overflow();
		return;
	}
	is_settled = true;
	write_send(WIRE_VALUE, 0);
}

void settle_exception(JSContext *ctx, JSValue error)
{
	if (is_settled)
		return;
	/* may run the program's code, which may settle the run itself */
	write_begin(left);
	render_error(ctx, error);
	if (is_settled)
		return;
	if (write_over()) {
		overflow();
		return;
	}
	is_settled = true;
	write_send(WIRE_EXCEPTION, 0);
}

void settle_exit(int code)
{
	if (is_settled)
		return;
	is_settled = true;
	host_send(WIRE_EXIT, (uint32_t)code, NULL, 0);
}

/*
 * Lost rejections. One that is never handled does not fail a run by itself:
 * it may be handled later, or not matter. But a program that can never go on,
 * because neither a call nor a timer is pending, is better told of it than left
 * to its wall-clock ceiling.
 */
#include "engine/quickjs/realm/realm.h"

#define KEPT 16

static struct {
	JSValue promise, reason;
} lost[KEPT];
static size_t count;

static void track(JSContext *ctx, JSValue promise, JSValue reason,
	bool is_handled, void *opaque)
{
	size_t i = 0;

	(void)opaque;
	if (!is_handled) {
		if (count < KEPT) {
			lost[count].promise = JS_DupValue(ctx, promise);
			lost[count++].reason = JS_DupValue(ctx, reason);
		}
		return;
	}
	while (i < count && JS_Address(lost[i].promise) != JS_Address(promise))
		i++;
	if (i == count)
		return;
	JS_FreeValue(ctx, lost[i].promise);
	JS_FreeValue(ctx, lost[i].reason);
	for (count--; i < count; i++)
		lost[i] = lost[i + 1];
}

void rejections_init(void)
{
	JS_SetHostPromiseRejectionTracker(realm_runtime,
		ENGINE_FN(JSHostPromiseRejectionTracker, track), NULL);
}

void rejections_settle(JSContext *ctx)
{
	if (count > 0 && !bindings_waiting())
		settle_exception(ctx, lost[0].reason);
}

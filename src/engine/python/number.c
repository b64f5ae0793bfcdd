/*
 * Floats as text: the shortest digits that give the double back, in the form
 * that ECMAScript prints, so that a number reads the same in every language's
 * result. One thing is Python's: a whole float keeps `.0`, since 1 and 1.0 are
 * of different types there and a value must come back as it went.
 */
#include "engine/python/realm.h"

#include <stdlib.h>
#include <string.h>

/* A double has at most 17 digits; the longest form has 21 zeros. */
struct decimal {
	char digits[32];
	int count;
	int point; /* the value is 0.DIGITS times ten to this */
};

/* From "-1234.5", "1.5e-07" and the like; the sign is not looked at. */
static void take_apart(struct decimal *out, const char *text)
{
	const char *mark = strchr(text, 'e');
	const char *end = mark != NULL ? mark : text + strlen(text);
	bool seen_point = false;
	int whole = 0;

	out->count = 0;
	for (const char *p = text; p != end; p++) {
		if (*p == '.') {
			seen_point = true;
			continue;
		}
		if (*p < '0' || *p > '9')
			continue;
		if (!seen_point)
			whole++;
		if (out->count < (int)sizeof(out->digits))
			out->digits[out->count++] = *p;
	}
	out->point = whole + (mark != NULL ? atoi(mark + 1) : 0);
	while (out->count > 1 && out->digits[out->count - 1] == '0')
		out->count--;
	while (out->count > 1 && out->digits[0] == '0') {
		out->count--;
		out->point--;
		memmove(out->digits, out->digits + 1, (size_t)out->count);
	}
}

static bool add_digits(
	struct capsid__buf *out, const struct decimal *d, int from, int to)
{
	return to <= from ||
	       capsid__buf_append(out, d->digits + from, (size_t)(to - from));
}

static bool add_zeros(struct capsid__buf *out, int count)
{
	static const char zeros[] = "000000000000000000000";

	return count <= 0 || capsid__buf_append(out, zeros, (size_t)count);
}

static bool put_together(struct capsid__buf *out, const struct decimal *d)
{
	int n = d->point, k = d->count;

	if (k <= n && n <= 21)
		return add_digits(out, d, 0, k) && add_zeros(out, n - k) &&
		       capsid__buf_append(out, ".0", 2);
	if (0 < n && n <= 21)
		return add_digits(out, d, 0, n) &&
		       capsid__buf_append_byte(out, '.') &&
		       add_digits(out, d, n, k);
	if (-6 < n && n <= 0)
		return capsid__buf_append(out, "0.", 2) && add_zeros(out, -n) &&
		       add_digits(out, d, 0, k);
	return add_digits(out, d, 0, 1) &&
	       (k == 1 || (capsid__buf_append_byte(out, '.') &&
				  add_digits(out, d, 1, k))) &&
	       capsid__buf_printf(out, "e%+d", n - 1);
}

bool capsid__python_float(struct capsid__buf *out, double number)
{
	struct decimal d;
	char *text;
	bool good;

	if (number == 0)
		return capsid__buf_append(out, "0.0", 3);
	text = PyOS_double_to_string(number, 'r', 0, 0, NULL);
	if (text == NULL) {
		PyErr_Clear();
		return false;
	}
	take_apart(&d, text);
	PyMem_Free(text);
	good = number > 0 || capsid__buf_append_byte(out, '-');
	return good && put_together(out, &d);
}

/*
 * Numbers by value. An integer token of up to 19 digits is judged in 64-bit
 * arithmetic, a longer one on the exact decimal digits of its nearest double.
 * A decimal is judged by the place of its first digit alone, and by strtod
 * only when that place is the very edge of the double's range.
 */
#include "json/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json/bytes.h"
#include "json/check.h"

/* 767 digits decide every rounding; the next stands for all behind it. */
#define KEPT_DIGITS 768

/* No text is long enough to bring an exponent back from here. */
#define FAR_EXPONENT INT64_C(100000000000000000)

/* The integer tokens that a double can reach at all. */
#define MOST_INTEGER_DIGITS 309

/* The shortest decimal of a double never has more digits. */
#define MOST_SHORTEST_DIGITS 17

/* digits x 10^exponent, without leading or trailing zeros; zero: len 0. */
struct decimal {
	bool negative;
	bool more; /* non-zero digits were left out behind the kept ones */
	size_t len;
	int64_t exponent;
	char digits[KEPT_DIGITS];
};

static int64_t read_exponent(const char *p, const char *end)
{
	bool negative = *p == '-';
	int64_t value = 0;

	if (*p == '-' || *p == '+')
		p++;
	for (; p != end && value < FAR_EXPONENT; p++)
		value = value * 10 + (*p - '0');
	if (value > FAR_EXPONENT)
		value = FAR_EXPONENT;
	return negative ? -value : value;
}

static void keep_digit(struct decimal *d, char digit)
{
	if (d->len < KEPT_DIGITS) {
		if (d->len != 0 || digit != '0')
			d->digits[d->len++] = digit;
		return;
	}
	d->more |= digit != '0';
	d->exponent++;
}

static void decimal_read(struct decimal *d, struct capsid__span token)
{
	const char *p = token.text, *end = p + token.len;
	bool fraction = false;

	d->negative = *p == '-';
	d->more = false;
	d->len = 0;
	d->exponent = 0;
	if (d->negative)
		p++;
	for (; p != end && (*p | 0x20) != 'e'; p++) {
		if (*p == '.') {
			fraction = true;
			continue;
		}
		keep_digit(d, *p);
		d->exponent -= fraction;
	}
	if (p != end && ++p != end)
		d->exponent += read_exponent(p, end);
	if (d->more)
		return;
	while (d->len != 0 && d->digits[d->len - 1] == '0') {
		d->len--;
		d->exponent++;
	}
}

/* The value is in [10^(place - 1), 10^place), unless it is zero. */
static int64_t decimal_place(const struct decimal *d)
{
	return d->exponent + (int64_t)d->len;
}

static double decimal_value(const struct decimal *d)
{
	char text[KEPT_DIGITS + 32];
	size_t len = d->len;
	int64_t place = decimal_place(d);
	int64_t exponent = d->exponent;
	double value;

	if (d->len == 0 || place < -330) {
		value = 0;
	} else if (place > 310) {
		value = HUGE_VAL;
	} else {
		memcpy(text, d->digits, len);
		if (d->more) {
			text[len++] = '1';
			exponent--;
		}
		snprintf(text + len, sizeof(text) - len, "e%lld",
			(long long)exponent);
		value = strtod(text, NULL);
	}
	return d->negative ? -value : value;
}

double capsid__json_double(struct capsid__span token)
{
	struct decimal d;

	decimal_read(&d, token);
	return decimal_value(&d);
}

static int decimal_fault(struct capsid__span token)
{
	struct decimal d;
	int64_t place;

	decimal_read(&d, token);
	place = decimal_place(&d);
	if (d.len == 0)
		return d.negative ? CAPSID__JSON_NEGATIVE_ZERO
				  : CAPSID__JSON_NONE;
	/* The largest double is 1.8e308, half the smallest 2.5e-324. */
	if (place >= 309 && isinf(decimal_value(&d)))
		return CAPSID__JSON_NUMBER;
	if (d.negative && place <= -323 && decimal_value(&d) == 0)
		return CAPSID__JSON_NEGATIVE_ZERO;
	return CAPSID__JSON_NONE;
}

/* Whether `n`, which rounds to `value`, is the shortest decimal that does. */
static bool is_shortest_small(uint64_t n, double value)
{
	uint64_t exact = (uint64_t)value;
	uint64_t unit = 1, low, high, best;

	while (n % 10 == 0) {
		n /= 10;
		unit *= 10;
	}
	n *= unit;
	/* With one digit less, either neighbour would do. */
	low = exact / (unit * 10) * (unit * 10);
	if ((double)low == value || (double)(low + unit * 10) == value)
		return false;
	low = exact / unit * unit;
	high = low + unit;
	if (exact - low == high - exact)
		best = low / unit % 2 == 0 ? low : high;
	else
		best = exact - low < high - exact ? low : high;
	if ((double)best != value)
		best = best == low ? high : low;
	return n == best;
}

/* Up to 19 digits: n, and its nearest double, are below 2^64. */
static bool holds_small(const char *digits, size_t len)
{
	uint64_t n = 0;
	double value;

	for (size_t i = 0; i < len; i++)
		n = n * 10 + (uint64_t)(digits[i] - '0');
	value = (double)n;
	return (uint64_t)value == n || is_shortest_small(n, value);
}

/*
 * The multiples of 10^zeros around an exact decimal, as text of width + 1
 * digits: `low` at or below it, `high` one unit above.
 */
static void neighbours(
	char *low, char *high, const char *exact, size_t width, size_t zeros)
{
	size_t at = width + 1 - zeros;

	low[0] = '0';
	memcpy(low + 1, exact, width);
	memset(low + at, '0', zeros);
	low[width + 1] = '\0';
	memcpy(high, low, width + 2);
	while (high[--at] == '9')
		high[at] = '0';
	high[at]++;
}

/* Whether the digits behind the last `zeros` are nearer to the upper one. */
static bool upper_is_nearer(
	const char *low, const char *exact, size_t width, size_t zeros)
{
	const char *rest = exact + width - zeros;

	if (*rest != '5')
		return *rest > '5';
	if (strspn(rest + 1, "0") != zeros - 1)
		return true;
	return (low[width - zeros] - '0') % 2 != 0;
}

static bool is_shortest_large(
	const char *digits, size_t len, const char *exact, double value)
{
	char low[MOST_INTEGER_DIGITS + 3], high[MOST_INTEGER_DIGITS + 3];
	const char *best, *other;
	size_t width = strlen(exact);
	size_t zeros = 0;

	while (digits[len - 1 - zeros] == '0')
		zeros++;
	if (len - zeros > MOST_SHORTEST_DIGITS)
		return false;
	if (zeros < width) {
		neighbours(low, high, exact, width, zeros + 1);
		if (strtod(low, NULL) == value || strtod(high, NULL) == value)
			return false;
	}
	neighbours(low, high, exact, width, zeros);
	best = upper_is_nearer(low, exact, width, zeros) ? high : low;
	other = best == high ? low : high;
	if (strtod(best, NULL) != value)
		best = other;
	return strcmp(best + strspn(best, "0"), digits) == 0;
}

/* 20 digits or more. */
static bool holds_large(const char *token, size_t len)
{
	char digits[MOST_INTEGER_DIGITS + 1], exact[MOST_INTEGER_DIGITS + 2];
	double value;

	if (len > MOST_INTEGER_DIGITS)
		return false;
	memcpy(digits, token, len);
	digits[len] = '\0';
	value = strtod(digits, NULL);
	if (isinf(value))
		return false;
	snprintf(exact, sizeof(exact), "%.0f", value);
	return strcmp(exact, digits) == 0 ||
	       is_shortest_large(digits, len, exact, value);
}

int capsid__json_number_fault(struct capsid__span token)
{
	bool negative = token.text[0] == '-';
	const char *digits = token.text + negative;
	size_t len = token.len - negative;

	for (size_t i = 0; i < len; i++) {
		if (digits[i] < '0' || digits[i] > '9')
			return decimal_fault(token);
	}
	if (digits[0] == '0')
		return negative ? CAPSID__JSON_NEGATIVE_ZERO
				: CAPSID__JSON_NONE;
	if (len <= 15)
		return CAPSID__JSON_NONE;
	return (len <= 19 ? holds_small(digits, len) : holds_large(digits, len))
		       ? CAPSID__JSON_NONE
		       : CAPSID__JSON_NUMBER;
}

bool capsid__json_integer(int64_t *out, struct capsid__span token)
{
	struct decimal d;
	uint64_t value = 0;
	uint64_t most;

	if (token.len == 0 ||
		(token.text[0] != '-' &&
			!capsid__json_is_digit((capsid__byte)token.text[0])))
		return false;
	decimal_read(&d, token);
	most = (uint64_t)INT64_MAX + d.negative;
	if (d.len == 0)
		d.exponent = 0;
	if (d.more || d.exponent < 0 || decimal_place(&d) > 19)
		return false;
	for (size_t i = 0; i < d.len; i++)
		value = value * 10 + (uint64_t)(d.digits[i] - '0');
	for (int64_t i = 0; i < d.exponent; i++)
		value *= 10;
	if (value > most)
		return false;
	*out = d.negative ? (int64_t)(0 - value) : (int64_t)value;
	return true;
}

/*
 * Numbers by value. An integer token of up to 19 digits is judged in 64-bit
 * arithmetic. A longer one is read as a binary number: a double has all of its
 * set bits within 53. One of up to 17 digits and zeros behind them may also be
 * the shortest decimal of the double next to it. All of it is exact arithmetic
 * whose cost a byte is about the same for every token.
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

/* --- integers of 20 to 309 digits --- */

/* 10^309 is below 2^1027. */
#define LIMBS 17
/* Bits of a double's mantissa. */
#define MANTISSA 53
/* The decimal digits that one step adds, and their power of ten. */
#define STEP 19
#define STEP_POWER UINT64_C(10000000000000000000)

/* A natural number; the lowest limb comes first, the highest is not zero. */
struct natural {
	size_t count;
	uint64_t limbs[LIMBS];
};

static uint64_t power_of_ten(size_t digits)
{
	uint64_t power = 1;

	while (digits-- > 0)
		power *= 10;
	return power;
}

/* n = n * factor + more */
static void multiply_add(struct natural *n, uint64_t factor, uint64_t more)
{
	for (size_t i = 0; i < n->count; i++) {
		unsigned __int128 limb =
			(unsigned __int128)n->limbs[i] * factor + more;

		n->limbs[i] = (uint64_t)limb;
		more = (uint64_t)(limb >> 64);
	}
	if (more != 0)
		n->limbs[n->count++] = more;
}

static void natural_read(struct natural *n, const char *digits, size_t len)
{
	size_t step = len % STEP;

	n->count = 0;
	for (size_t at = 0; at < len; at += step, step = STEP) {
		uint64_t part = 0;

		if (step == 0)
			step = STEP;
		for (size_t i = 0; i < step; i++)
			part = part * 10 + (uint64_t)(digits[at + i] - '0');
		multiply_add(n, step == STEP ? STEP_POWER : power_of_ten(step),
			part);
	}
}

static size_t bit_count(const struct natural *n)
{
	return n->count == 0 ? 0
			     : n->count * 64 - (size_t)__builtin_clzll(
						       n->limbs[n->count - 1]);
}

static bool bit(const struct natural *n, size_t at)
{
	return at / 64 < n->count && (n->limbs[at / 64] >> (at % 64) & 1) != 0;
}

static void trim(struct natural *n)
{
	while (n->count != 0 && n->limbs[n->count - 1] == 0)
		n->count--;
}

static int compare(const struct natural *a, const struct natural *b)
{
	if (a->count != b->count)
		return a->count < b->count ? -1 : 1;
	for (size_t i = a->count; i-- > 0;) {
		if (a->limbs[i] != b->limbs[i])
			return a->limbs[i] < b->limbs[i] ? -1 : 1;
	}
	return 0;
}

/* a = a + b; there is room. */
static void add(struct natural *a, const struct natural *b)
{
	unsigned carry = 0;

	for (size_t i = 0; i < b->count || carry != 0; i++) {
		uint64_t limb = i < b->count ? b->limbs[i] : 0;

		if (i == a->count)
			a->limbs[a->count++] = 0;
		limb += carry;
		carry = limb < carry;
		a->limbs[i] += limb;
		carry += a->limbs[i] < limb;
	}
}

/* a = |a - b| */
static void subtract(struct natural *a, const struct natural *b)
{
	const struct natural *large = a, *small = b;
	unsigned borrow = 0;

	if (compare(a, b) < 0) {
		large = b;
		small = a;
	}
	for (size_t i = 0; i < large->count; i++) {
		uint64_t limb = i < small->count ? small->limbs[i] : 0;
		uint64_t from = large->limbs[i];

		a->limbs[i] = from - limb - borrow;
		borrow = from < limb || (from == limb && borrow != 0);
	}
	a->count = large->count;
	trim(a);
}

static void power_of_two(struct natural *n, size_t exponent)
{
	n->count = exponent / 64 + 1;
	memset(n->limbs, 0, n->count * sizeof(n->limbs[0]));
	n->limbs[exponent / 64] = UINT64_C(1) << (exponent % 64);
}

/* Whether all bits that are set lie within 53, and below 2^1024: a double. */
static bool is_double(const struct natural *n)
{
	size_t low = 0, bits = bit_count(n);

	while (n->limbs[low] == 0)
		low++;
	return bits <= 1024 &&
	       bits - (low * 64 + (size_t)__builtin_ctzll(n->limbs[low])) <=
		       MANTISSA;
}

/* A number that is no double, by the double next to it. */
struct nearest {
	struct natural away; /* how far the number is from the double */
	bool above;          /* it is larger than the double */
	bool even;           /* the double's mantissa is even */
	bool power;          /* the double is a power of two */
	size_t exponent;     /* of the double's last bit */
};

/* False: it rounds to infinity. */
static bool find_nearest(struct nearest *out, const struct natural *n)
{
	size_t bits = bit_count(n), exponent = bits - MANTISSA;
	struct natural unit, twice;
	bool ones = true, zeros = true;

	for (size_t i = exponent; i < bits - 1; i++) {
		ones = ones && bit(n, i);
		zeros = zeros && !bit(n, i);
	}
	/* the bits below the mantissa, and what they lack to its next value */
	out->away = *n;
	out->away.count = exponent / 64 + 1;
	out->away.limbs[exponent / 64] &= (UINT64_C(1) << (exponent % 64)) - 1;
	trim(&out->away);
	power_of_two(&unit, exponent);
	twice = out->away;
	add(&twice, &out->away);
	out->even = !bit(n, exponent);
	out->above = compare(&twice, &unit) < 0 ||
		     (compare(&twice, &unit) == 0 && out->even);
	out->power = out->above ? zeros : ones;
	if (!out->above) {
		subtract(&out->away, &unit);
		out->even = !out->even;
		if (ones) {
			exponent++;
			bits++;
			out->even = true;
		}
	}
	out->exponent = exponent;
	return bits <= 1024;
}

/* Whether a number that is `away` from the double rounds to it. */
static bool rounds_to(
	const struct nearest *nearest, const struct natural *away, bool above)
{
	struct natural half;
	int order;

	/* below a power of two doubles lie twice as close */
	power_of_two(
		&half, nearest->exponent - (nearest->power && !above ? 2 : 1));
	order = compare(away, &half);
	return order < 0 || (order == 0 && nearest->even);
}

/* The same of the number plus (or minus) `count` units. */
static bool moved_rounds_to(const struct nearest *nearest,
	const struct natural *unit, uint64_t count, bool up)
{
	struct natural way = *unit, away = nearest->away;
	bool above = nearest->above;

	multiply_add(&way, count, 0);
	if (up == above) {
		add(&away, &way);
	} else {
		if (compare(&away, &way) < 0)
			above = !above;
		subtract(&away, &way);
	}
	return rounds_to(nearest, &away, above);
}

/*
 * Whether a number that is no double is the shortest decimal of the double
 * next to it: no decimal with a digit less rounds to that double, and of those
 * with as many digits it is the closest that does. `last` is the last digit
 * before the zeros.
 */
static bool is_shortest_large(
	const struct natural *n, unsigned last, size_t zeros)
{
	struct natural unit = { 1, { 1 } }, twice;
	struct nearest nearest;
	int order;

	if (!find_nearest(&nearest, n))
		return false;
	for (; zeros >= STEP; zeros -= STEP)
		multiply_add(&unit, STEP_POWER, 0);
	multiply_add(&unit, power_of_ten(zeros), 0);
	/* with one digit less, either neighbour would do */
	if (moved_rounds_to(&nearest, &unit, last, false) ||
		moved_rounds_to(&nearest, &unit, 10 - last, true))
		return false;
	twice = nearest.away;
	add(&twice, &nearest.away);
	order = compare(&twice, &unit);
	if (order < 0 || (order == 0 && last % 2 == 0))
		return true;
	/* the other neighbour of the double is closer, unless it rounds to
	 * another one */
	return !moved_rounds_to(&nearest, &unit, 1, !nearest.above);
}

/* 20 digits or more. */
static bool holds_large(const char *digits, size_t len)
{
	struct natural n;
	size_t zeros = 0;

	if (len > MOST_INTEGER_DIGITS)
		return false;
	natural_read(&n, digits, len);
	if (is_double(&n))
		return true;
	while (digits[len - 1 - zeros] == '0')
		zeros++;
	return zeros != 0 && len - zeros <= MOST_SHORTEST_DIGITS &&
	       is_shortest_large(
		       &n, (unsigned)(digits[len - 1 - zeros] - '0'), zeros);
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

/*
 * src/json/number.c against an oracle that shares no code with it: long
 * integers are rounded and printed by schoolbook arithmetic on limbs, and the
 * shortest decimal is found by trying every number of digits. The oracle's
 * rounding is itself compared with strtod. The first byte of the input says
 * how a token is made of the rest: as it is written, from its digits, from
 * the neighbourhood of a double, or as 16 tokens from a seed.
 */
#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "json/check.h"
#include "json/number.h"

/*
 * The token, its list and the tokens made from a seed.
 */
const struct fuzz_bounds fuzz_bounds = {
	.heap_base = 65536,
	.heap_per_byte = 8,
	.clock = CLOCK_THREAD_CPUTIME_ID,
	.ns_base = 100000000,
	.ns_per_byte = 20000,
};

/* 10^309 and more overflows; 1,280 bits hold every shorter integer. */
#define LIMBS 40
#define MOST_DIGITS 309
#define TOKEN_MAX 4096

/* In every build, unlike assert(). */
static void must(bool holds, const char *what, const char *token)
{
	if (holds)
		return;
	fprintf(stderr, "it does not hold that %s: %s\n", what, token);
	abort();
}

/* --- integers of any length --- */

struct big {
	uint32_t limb[LIMBS]; /* the lowest first */
};

static void big_add(struct big *n, uint32_t factor, uint32_t term)
{
	uint64_t carry = term;

	for (size_t i = 0; i < LIMBS; i++) {
		carry += (uint64_t)n->limb[i] * factor;
		n->limb[i] = (uint32_t)carry;
		carry >>= 32;
	}
	must(carry == 0, "the oracle's integers are wide enough", "");
}

/* Nine digits at a time. */
static void big_read(struct big *n, const char *digits)
{
	memset(n, 0, sizeof(*n));
	while (*digits != '\0') {
		uint32_t factor = 1, term = 0;

		for (size_t i = 0; i < 9 && *digits != '\0'; i++) {
			factor *= 10;
			term = term * 10 + (uint32_t)(*digits++ - '0');
		}
		big_add(n, factor, term);
	}
}

static uint32_t big_divide(struct big *n, uint32_t by)
{
	uint64_t rest = 0;

	for (size_t i = LIMBS; i-- > 0;) {
		rest = rest << 32 | n->limb[i];
		n->limb[i] = (uint32_t)(rest / by);
		rest %= by;
	}
	return (uint32_t)rest;
}

static bool big_bit(const struct big *n, size_t at)
{
	return n->limb[at / 32] >> at % 32 & 1;
}

static size_t big_width(const struct big *n)
{
	size_t limbs = LIMBS, width;

	while (limbs > 0 && n->limb[limbs - 1] == 0)
		limbs--;
	width = limbs * 32;
	while (width > 0 && !big_bit(n, width - 1))
		width--;
	return width;
}

/* Without leading zeros; `text` has room for MOST_DIGITS + 2 bytes. */
static void big_print(char *text, struct big n)
{
	char parts[LIMBS * 10 + 9];
	size_t at = sizeof(parts);

	while (big_width(&n) != 0) {
		uint32_t part = big_divide(&n, 1000000000);

		for (size_t i = 0; i < 9; i++, part /= 10)
			parts[--at] = (char)('0' + part % 10);
	}
	while (at < sizeof(parts) - 1 && parts[at] == '0')
		at++;
	must(sizeof(parts) - at <= MOST_DIGITS,
		"a double has at most 309 digits", "");
	memcpy(text, parts + at, sizeof(parts) - at);
	text[sizeof(parts) - at] = '\0';
}

/* --- the oracle --- */

/* mantissa x 2^exponent: 53 bits, or fewer and an exponent of 0. */
struct number {
	uint64_t mantissa;
	size_t exponent;
	bool exact; /* nothing was rounded */
	bool infinite;
};

static bool is_same(const struct number *a, const struct number *b)
{
	return a->mantissa == b->mantissa && a->exponent == b->exponent &&
	       !a->infinite && !b->infinite;
}

/* To the nearest, ties to even. */
static struct number nearest(const char *digits)
{
	struct number number = { .exact = true };
	struct big n;
	size_t width;
	bool half = false;

	big_read(&n, digits);
	width = big_width(&n);
	number.exponent = width > 53 ? width - 53 : 0;
	for (size_t i = width; i-- > number.exponent;)
		number.mantissa = number.mantissa << 1 | big_bit(&n, i);
	if (number.exponent != 0)
		half = big_bit(&n, number.exponent - 1);
	number.exact = !half;
	for (size_t i = 0; i + 1 < number.exponent; i++) {
		if (!big_bit(&n, i))
			continue;
		number.exact = false;
		number.mantissa += half;
		half = false;
		break;
	}
	/* half: exactly between two */
	number.mantissa += half && (number.mantissa & 1);
	if (number.mantissa == UINT64_C(1) << 53) {
		number.mantissa >>= 1;
		number.exponent++;
	}
	number.infinite = number.exponent + 53 > 1024;
	return number;
}

static void print(char *text, const struct number *number)
{
	struct big n = { { (uint32_t)number->mantissa,
		(uint32_t)(number->mantissa >> 32) } };

	for (size_t left = number->exponent; left > 0;) {
		size_t bits = left < 31 ? left : 31;

		big_add(&n, UINT32_C(1) << bits, 0);
		left -= bits;
	}
	big_print(text, n);
}

/* `digits` with the first `kept` digits one higher; it may grow by one. */
static void next_above(char *digits, size_t kept)
{
	size_t at = kept;

	while (at > 0 && digits[at - 1] == '9')
		digits[--at] = '0';
	if (at > 0) {
		digits[at - 1]++;
		return;
	}
	memmove(digits + 1, digits, strlen(digits) + 1);
	digits[0] = '1';
}

/* Compares what is behind the first `kept` digits with one half of a unit. */
static int against_half(const char *digits, size_t kept)
{
	const char *rest = digits + kept;

	if (*rest == '\0' || *rest < '5')
		return -1;
	if (*rest > '5')
		return 1;
	return rest[1 + strspn(rest + 1, "0")] == '\0' ? 0 : 1;
}

/*
 * The multiples of 10^(digits - kept) on both sides of an exact decimal: which
 * one is read as `number`, of two the nearer, of two as near the even one.
 */
static bool kept_digits_do(
	char *best, const char *exact, size_t kept, const struct number *number)
{
	char low[MOST_DIGITS + 3], high[MOST_DIGITS + 3];
	int half = against_half(exact, kept);
	struct number below, above;
	bool up;

	strcpy(low, exact);
	memset(low + kept, '0', strlen(exact) - kept);
	strcpy(high, low);
	next_above(high, kept);
	below = nearest(low);
	above = nearest(high);
	if (!is_same(&below, number) && !is_same(&above, number))
		return false;
	up = half > 0 || (half == 0 && (low[kept - 1] - '0') % 2 != 0);
	if (!is_same(up ? &above : &below, number))
		up = !up;
	strcpy(best, up ? high : low);
	return true;
}

/*
 * The shortest decimal that is read as `number`; of several the nearest. A
 * decimal that does is among those with one digit more, so that the first
 * count that fails ends the search.
 */
static void shortest(char *best, const struct number *number)
{
	char exact[MOST_DIGITS + 3];
	size_t kept;

	print(exact, number);
	kept = strlen(exact) < 17 ? strlen(exact) : 17;
	must(kept_digits_do(best, exact, kept, number),
		"17 digits are enough for a double", exact);
	while (kept > 1 && kept_digits_do(best, exact, kept - 1, number))
		kept--;
}

static void rounding_is_the_library_s(
	const struct number *number, const char *digits)
{
	double value = strtod(digits, NULL);

	must(isinf(value) == number->infinite, "both overflow", digits);
	if (!number->infinite)
		must(ldexp((double)number->mantissa, (int)number->exponent) ==
				value,
			"both round alike", digits);
}

/* No sign, no leading zero. */
static bool integer_holds(const char *digits)
{
	char best[MOST_DIGITS + 3];
	struct number number;

	if (strlen(digits) > MOST_DIGITS)
		return false;
	number = nearest(digits);
	rounding_is_the_library_s(&number, digits);
	if (number.infinite || number.exact)
		return !number.infinite;
	shortest(best, &number);
	return strcmp(best, digits) == 0;
}

static int expected_fault(const char *token)
{
	bool negative = *token == '-';
	const char *digits = token + negative;
	size_t mantissa = strcspn(digits, "eE");
	bool zero = strspn(digits, "0.") == mantissa;
	double value = strtod(digits, NULL);

	if (zero || (value == 0 && negative))
		return negative ? CAPSID__JSON_NEGATIVE_ZERO
				: CAPSID__JSON_NONE;
	if (strpbrk(digits, ".eE") != NULL)
		return isinf(value) ? CAPSID__JSON_NUMBER : CAPSID__JSON_NONE;
	return integer_holds(digits) ? CAPSID__JSON_NONE : CAPSID__JSON_NUMBER;
}

/* Whether the token's value is an integer of 64 bits, and which. */
static bool expected_integer(int64_t *out, const char *token)
{
	bool negative = *token == '-', seen = false, fraction = false;
	const char *e = strpbrk(token, "eE");
	const char *p = token + negative;
	__int128 value = 0;
	/* More than any token's length, and far from an overflow. */
	long double exponent = e != NULL ? strtold(e + 1, NULL) : 0;
	int64_t places = 0, zeros = 0;

	for (; *p != '\0' && p != e; p++) {
		if (*p == '.') {
			fraction = true;
			continue;
		}
		places += fraction;
		seen |= *p != '0';
		/* Zeros count only when a digit follows them. */
		if (*p == '0') {
			zeros++;
			continue;
		}
		for (; zeros > 0; zeros--)
			value = value < INT64_MAX ? value * 10 : value;
		if (value > INT64_MAX)
			return false;
		value = value * 10 + (*p - '0');
	}
	exponent += (long double)(zeros - places);
	if (seen && (exponent < 0 || exponent > 19))
		return false;
	for (; seen && exponent > 0 && value <= INT64_MAX; exponent--)
		value *= 10;
	value = negative ? -value : value;
	if (value > INT64_MAX || value < INT64_MIN)
		return false;
	*out = (int64_t)value;
	return true;
}

/* --- the checks --- */

static void is_judged_alike(const char *token)
{
	size_t len = strlen(token);
	/* Exactly as long: a read past its end is a sanitizer's catch. */
	char *copy = malloc(len), *list = malloc(2 * len + 3);
	struct capsid__span span = { copy, len };
	struct capsid__json_fault fault = { CAPSID__JSON_NONE, 0 };
	int expected = expected_fault(token);
	int64_t integer = 0, other = 0;
	bool is_integer = expected_integer(&integer, token);
	double value, nearest_double = strtod(token, NULL);

	if (copy == NULL || list == NULL)
		abort();
	memcpy(copy, token, len);
	must(capsid__json_number_fault(span) == expected,
		"the token is judged by its value", token);
	value = capsid__json_double(span);
	must(memcmp(&value, &nearest_double, sizeof(value)) == 0,
		"the token has its nearest double", token);
	must(capsid__json_integer(&other, span) == is_integer &&
			integer == other,
		"the token is an integer of 64 bits or not", token);
	list[0] = '[';
	memcpy(list + 1, token, len);
	list[1 + len] = ',';
	memcpy(list + 2 + len, token, len);
	list[2 + 2 * len] = ']';
	capsid__json_check((struct capsid__span){ list, 2 * len + 3 },
		CAPSID__JSON_COMPACT, &fault);
	must(fault.kind == expected &&
			fault.offset == (expected != CAPSID__JSON_NONE),
		"the whole text is judged alike", token);
	free(copy);
	free(list);
}

/* --- tokens --- */

struct bytes {
	const uint8_t *data;
	size_t left;
};

static uint8_t take(struct bytes *in)
{
	if (in->left == 0)
		return 0;
	in->left--;
	return *in->data++;
}

static size_t skip_digits(const char *text, size_t at)
{
	return at + strspn(text + at, "0123456789");
}

static bool is_number(const char *text)
{
	size_t at = text[0] == '-', from;

	if (!isdigit((unsigned char)text[at]))
		return false;
	at = text[at] == '0' ? at + 1 : skip_digits(text, at);
	if (text[at] == '.') {
		from = ++at;
		at = skip_digits(text, at);
		if (at == from)
			return false;
	}
	if (text[at] == 'e' || text[at] == 'E') {
		at++;
		at += text[at] == '-' || text[at] == '+';
		from = at;
		at = skip_digits(text, at);
		if (at == from)
			return false;
	}
	return text[at] == '\0';
}

static void as_it_is(char *token, struct bytes *in)
{
	size_t len = in->left < TOKEN_MAX ? in->left : TOKEN_MAX;

	if (len != 0)
		memcpy(token, in->data, len);
	token[len] = '\0';
}

/* An integer; sometimes with a point or an exponent after some digits. */
static void from_digits(char *token, struct bytes *in)
{
	uint8_t how = take(in);
	size_t point = how & 2 ? take(in) + 1u : SIZE_MAX;
	int exponent = how & 4 ? take(in) * (how & 8 ? -4 : 4) + 3 : 0;
	size_t len = 0;
	size_t count = 0;

	if (how & 1)
		token[len++] = '-';
	while (in->left > 0 && count < 1000) {
		char digit = (char)('0' + take(in) % 10);

		if (count == 0 && digit == '0')
			digit = '1';
		if (count == point)
			token[len++] = '.';
		token[len++] = digit;
		count++;
	}
	if (count == 0)
		token[len++] = '0';
	token[len] = '\0';
	if (how & 4)
		sprintf(token + len, "e%d", exponent);
}

/* The last digit that is not zero, or the very last, one up or down. */
static void nudge(char *digits, uint8_t how)
{
	size_t at = strlen(digits) - 1;

	if (how & 2)
		while (at > 0 && digits[at] == '0')
			at--;
	if (how & 1)
		next_above(digits, at + 1);
	else if (digits[at] > '0' && (at > 0 || digits[at] > '1'))
		digits[at]--;
}

/* `digits` rounded to `kept` of them, to the nearest or the other way. */
static void shorten(char *digits, size_t kept, bool other)
{
	size_t len = strlen(digits);
	bool up;

	if (kept >= len)
		return;
	up = (against_half(digits, kept) > 0) != other;
	memset(digits + kept, '0', len - kept);
	if (up)
		next_above(digits, kept);
}

/* A double, half way to the next one, or its shortest decimals; or near. */
static void near_double(char *token, struct bytes *in)
{
	struct number number = { .exact = true };
	uint8_t how = take(in), then = take(in);
	char digits[MOST_DIGITS + 8];

	number.exponent = (take(in) * 4u + (how >> 6)) %
			  (then & 128 ? 12 : 972); /* below 2^64 or not */
	for (size_t i = 0; i < 7; i++)
		number.mantissa = number.mantissa << 8 | take(in);
	number.mantissa &= (UINT64_C(1) << 53) - 1;
	if (then & 64) /* at the edge: a power of two, or just below one */
		number.mantissa = number.mantissa & 1 ? 0 : UINT64_MAX >> 11;
	number.mantissa |= UINT64_C(1) << 52;
	if (how & 2) {
		shortest(digits, &number);
	} else {
		if (how & 1 && number.exponent > 0) {
			number.exponent--;
			number.mantissa = number.mantissa << 1 | 1;
		}
		print(digits, &number);
	}
	if (how & 4)
		shorten(digits, 15 + (then & 3), (how & 8) && (then & 4));
	if (how & 16)
		nudge(digits, then >> 3);
	sprintf(token, "%s%s", how & 32 ? "-" : "", digits);
}

static void make(char *token, uint8_t how, struct bytes *in)
{
	switch (how % 3) {
	case 0:
		as_it_is(token, in);
		return;
	case 1:
		from_digits(token, in);
		return;
	default:
		near_double(token, in);
	}
}

/* xorshift64* */
static uint8_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (uint8_t)((*state * UINT64_C(0x2545F4914F6CDD1D)) >> 56);
}

static void many(struct bytes *in)
{
	static char token[TOKEN_MAX + 1];
	uint64_t state = 1;
	uint8_t bytes[330];

	for (size_t i = 0; i < 8; i++)
		state = state << 8 ^ take(in);
	state |= UINT64_C(1) << 63;
	for (size_t i = 0; i < 16; i++) {
		struct bytes made = { bytes, 0 };
		size_t most = i % 2 ? 10 : sizeof(bytes);

		made.left = 10 + next_random(&state) % (most - 9);
		for (size_t k = 0; k < made.left; k++)
			bytes[k] = next_random(&state);
		make(token, (uint8_t)(1 + i % 2), &made);
		is_judged_alike(token);
	}
}

void fuzz_one(const uint8_t *data, size_t size)
{
	static char token[TOKEN_MAX + 1];
	struct bytes in = { data, size };
	uint8_t how = take(&in) % 4;

	if (how == 3) {
		many(&in);
		return;
	}
	make(token, how, &in);
	if (is_number(token))
		is_judged_alike(token);
}

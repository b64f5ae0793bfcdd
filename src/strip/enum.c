/*
 * Enums, member by member in place: `Red = 1,` becomes
 * `E[E["Red"] = 1] = "Red";`. What cannot be seen to be a number or a string
 * decides when it runs whether it is mapped back.
 */
#include "strip/space.h"

#include <string.h>

enum value { NUMBER, STRING, RUNTIME };

struct member {
	uint32_t node;
	uint32_t name;
	uint32_t value; /* 0: counted on from the member in front */
	const char *quote;
	struct strip_slice text; /* of the name, without brackets */
};

struct counter {
	bool known;
	long long next;
	bool string; /* the member in front was a string */
	struct member before;
};

static bool read_member(
	const struct strip_work *work, uint32_t child, struct member *member)
{
	const struct strip_tree *tree = &work->tree;

	*member = (struct member){ .node = child, .name = child, .quote = "" };
	if (capsid__strip_is(tree, child, sym_enum_assignment)) {
		member->name = capsid__strip_field(tree, child, field_name);
		member->value = capsid__strip_field(tree, child, field_value);
	} else if (capsid__strip_at(tree, child)->field != field_name) {
		return false;
	}
	member->text = capsid__strip_text(work, member->name);
	switch (capsid__strip_at(tree, member->name)->kind) {
	case alias_sym_property_identifier:
		member->quote = "\"";
		break;
	case sym_computed_property_name:
		member->text.text++;
		member->text.len -= 2;
		break;
	}
	return true;
}

void capsid__strip_enum_members(
	struct strip_rewriter *rewriter, const struct strip_space *space)
{
	struct strip_work *work = rewriter->work;
	const struct strip_level *level =
		capsid__strip_inner_level(rewriter, space);
	uint32_t child = capsid__strip_first(&work->tree, space->body);

	for (; child; child = capsid__strip_next(&work->tree, child)) {
		struct member member;
		uint32_t one = 1;

		if (!read_member(work, child, &member) || !member.text.len)
			continue;
		if (!*member.quote && capsid__strip_is(&work->tree, member.name,
					      sym_string)) {
			member.text.text++;
			member.text.len -= 2;
		}
		if (!capsid__strip_names_add(&rewriter->names, STRIP_EXPORTED,
			    level->symbol, member.text, &one))
			rewriter->failed = true;
	}
}

/* Past parentheses. */
static uint32_t bare(const struct strip_tree *tree, uint32_t node)
{
	while (capsid__strip_is(tree, node, sym_parenthesized_expression)) {
		uint32_t child = capsid__strip_first(tree, node);

		child = child ? capsid__strip_after(tree, child) : 0;
		if (!child)
			break;
		node = child;
	}
	return node;
}

static enum value seen(const struct strip_tree *tree, uint32_t node)
{
	uint32_t sign;

	node = bare(tree, node);
	switch (capsid__strip_at(tree, node)->kind) {
	case sym_number:
	case sym_unary_expression:
	/* TypeScript sees through none of these, and maps the member back. */
	case sym_as_expression:
	case sym_satisfies_expression:
	case sym_non_null_expression:
	case sym_type_assertion:
		return NUMBER;
	case sym_string:
	case sym_template_string:
		return STRING;
	case sym_binary_expression:
		sign = capsid__strip_field(tree, node, field_operator);
		switch (sign ? capsid__strip_at(tree, sign)->kind : 0) {
		case anon_sym_LT_LT:
		case anon_sym_GT_GT:
		case anon_sym_GT_GT_GT:
		case anon_sym_PIPE:
		case anon_sym_AMP:
		case anon_sym_CARET:
		case anon_sym_DASH:
		case anon_sym_STAR:
		case anon_sym_SLASH:
		case anon_sym_PERCENT:
		case anon_sym_STAR_STAR:
			return NUMBER;
		}
	}
	return RUNTIME;
}

static bool digits(struct strip_slice text, long long *value)
{
	*value = 0;
	if (text.len > 15 || (text.len > 1 && text.text[0] == '0'))
		return false;
	for (uint32_t i = 0; i < text.len; i++) {
		if (text.text[i] < '0' || text.text[i] > '9')
			return false;
		*value = *value * 10 + (text.text[i] - '0');
	}
	return text.len > 0;
}

/* The value of a plain integer literal, a sign in front allowed. */
static bool constant(
	const struct strip_work *work, uint32_t node, long long *value)
{
	const struct strip_tree *tree = &work->tree;
	uint32_t sign = 0;

	node = bare(tree, node);
	if (capsid__strip_is(tree, node, sym_unary_expression)) {
		sign = capsid__strip_field(tree, node, field_operator);
		node = bare(
			tree, capsid__strip_field(tree, node, field_argument));
		if (!capsid__strip_is(tree, sign, anon_sym_DASH))
			return false;
	}
	if (!capsid__strip_is(tree, node, sym_number) ||
		!digits(capsid__strip_text(work, node), value))
		return false;
	if (sign)
		*value = -*value;
	return true;
}

static struct strip_slice decimal(long long value, char text[24])
{
	unsigned long long rest = value < 0 ? 0ull - (unsigned long long)value
					    : (unsigned long long)value;
	uint32_t at = 24;

	do {
		text[--at] = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest);
	if (value < 0)
		text[--at] = '-';
	return (struct strip_slice){ text + at, 24 - at };
}

static struct strip_slice quoted(const char *text)
{
	return (struct strip_slice){ text, (uint32_t)strlen(text) };
}

static void emit_counted(struct strip_work *work,
	const struct strip_level *level, const struct member *member,
	const struct counter *counter)
{
	const struct strip_node *at =
		capsid__strip_at(&work->tree, member->name);
	struct strip_slice quote = quoted(member->quote);
	struct strip_slice other = quoted(counter->before.quote);
	char room[24];

	capsid__strip_insert_before(&work->edit, at->start, at->end, "%%[%%[%",
		level->name, level->suffix, level->name, level->suffix, quote);
	if (counter->string)
		capsid__strip_insert_after(&work->edit, at->end, at->start,
			"%] = void 0] = %%%", quote, quote, member->text,
			quote);
	else if (counter->known)
		capsid__strip_insert_after(&work->edit, at->end, at->start,
			"%] = %] = %%%", quote, decimal(counter->next, room),
			quote, member->text, quote);
	else
		capsid__strip_insert_after(&work->edit, at->end, at->start,
			"%] = %%[%%%] + 1] = %%%", quote, level->name,
			level->suffix, other, counter->before.text, other,
			quote, member->text, quote);
}

static void emit_valued(struct strip_work *work,
	const struct strip_level *level, const struct member *member)
{
	const struct strip_node *at =
		capsid__strip_at(&work->tree, member->name);
	const struct strip_node *all =
		capsid__strip_at(&work->tree, member->node);
	struct strip_slice quote = quoted(member->quote);
	struct strip_slice name = level->name;
	struct strip_slice suffix = level->suffix;

	switch (seen(&work->tree, member->value)) {
	case STRING:
		capsid__strip_insert_before(&work->edit, at->start, all->end,
			"%%[%", name, suffix, quote);
		capsid__strip_insert_after(
			&work->edit, at->end, at->start + 1, "%]", quote);
		return;
	case NUMBER:
		capsid__strip_insert_before(&work->edit, at->start, all->end,
			"%%[%%[%", name, suffix, name, suffix, quote);
		capsid__strip_insert_after(&work->edit, all->end, all->start,
			"] = %%%", quote, member->text, quote);
		break;
	case RUNTIME:
		capsid__strip_insert_before(&work->edit, at->start, all->end,
			"typeof (%%[%", name, suffix, quote);
		capsid__strip_insert_after(&work->edit, all->end, all->start,
			") === \"string\" || (%%[%%[%%%]] = %%%)", name, suffix,
			name, suffix, quote, member->text, quote, quote,
			member->text, quote);
		break;
	}
	capsid__strip_insert_after(
		&work->edit, at->end, at->start + 1, "%]", quote);
}

static void emit_member(struct strip_work *work,
	const struct strip_level *level, const struct member *member,
	struct counter *counter)
{
	const struct strip_node *at =
		capsid__strip_at(&work->tree, member->name);

	if (capsid__strip_is(
		    &work->tree, member->name, sym_computed_property_name)) {
		capsid__strip_blank(&work->edit, at->start, at->start + 1);
		capsid__strip_blank(&work->edit, at->end - 1, at->end);
	}
	if (!member->value) {
		emit_counted(work, level, member, counter);
		counter->known &= !counter->string;
		counter->string = false;
		counter->next++;
	} else {
		emit_valued(work, level, member);
		counter->string = seen(&work->tree, member->value) == STRING;
		counter->known = constant(work, member->value, &counter->next);
		counter->next++;
	}
	counter->before = *member;
}

void capsid__strip_enum_emit(
	struct strip_rewriter *rewriter, const struct strip_space *space)
{
	struct strip_work *work = rewriter->work;
	const struct strip_level *level =
		capsid__strip_inner_level(rewriter, space);
	struct counter counter = { .known = true, .before = { .quote = "" } };
	uint32_t child = capsid__strip_first(&work->tree, space->body);

	for (; child; child = capsid__strip_next(&work->tree, child)) {
		struct member member;

		if (capsid__strip_is(&work->tree, child, anon_sym_COMMA))
			capsid__strip_put(&work->edit,
				capsid__strip_at(&work->tree, child)->start,
				";");
		else if (read_member(work, child, &member))
			emit_member(work, level, &member, &counter);
	}
}

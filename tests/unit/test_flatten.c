/*
 * The flat tree is what the parser's public cursor would give, node by node:
 * for every program of the cases, of the fuzzer's corpus and of bench/, whole
 * and cut off in many places, so that there are broken and missing nodes too.
 */
#include "unit.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "strip/tree.h"

const TSLanguage *tree_sitter_typescript(void);

static TSParser *parser;
static struct strip_tree flat;
static size_t nodes, broken, missing, extra, fields;

static void same_node(const TSTreeCursor *cursor, uint32_t index)
{
	TSNode node = ts_tree_cursor_current_node(cursor);
	const struct strip_node *got = capsid__strip_at(&flat, index);
	bool lost = ts_node_is_missing(node);

	assert_true(index < flat.count);
	assert_int_equal(got->start, ts_node_start_byte(node));
	assert_int_equal(got->end, ts_node_end_byte(node));
	assert_int_equal(got->kind, ts_node_symbol(node));
	assert_int_equal(got->field, ts_tree_cursor_current_field_id(cursor));
	assert_int_equal(!!(got->flags & STRIP_NAMED), ts_node_is_named(node));
	assert_int_equal(!!(got->flags & STRIP_MISSING), lost);
	assert_int_equal(
		!!(got->flags & STRIP_BROKEN), ts_node_has_error(node) || lost);
	assert_int_equal(!!(got->flags & STRIP_EXTRA),
		ts_node_is_extra(node) && !ts_node_is_error(node));
	nodes++;
	broken += got->kind == STRIP_ERROR;
	missing += lost;
	extra += !!(got->flags & STRIP_EXTRA);
	fields += got->field != 0;
}

/* The cursor's way through the tree, which is the array's order. */
static void compare(const TSTree *tree)
{
	TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(tree));
	uint32_t at = 0, count = 1;

	same_node(&cursor, 0);
	for (;;) {
		if (ts_tree_cursor_goto_first_child(&cursor)) {
			same_node(&cursor, count);
			assert_int_equal(flat.nodes[count].parent, at);
			at = count++;
			continue;
		}
		assert_int_equal(flat.nodes[at].last, count);
		while (at && !ts_tree_cursor_goto_next_sibling(&cursor)) {
			assert_true(ts_tree_cursor_goto_parent(&cursor));
			at = flat.nodes[at].parent;
			assert_int_equal(flat.nodes[at].last, count);
		}
		if (!at)
			break;
		same_node(&cursor, count);
		assert_int_equal(
			flat.nodes[count].parent, flat.nodes[at].parent);
		at = count++;
	}
	assert_int_equal(flat.count, count);
	ts_tree_cursor_delete(&cursor);
}

static void check(const char *text, size_t len)
{
	TSTree *tree =
		ts_parser_parse_string(parser, NULL, text, (uint32_t)len);

	assert_non_null(tree);
	assert_true(capsid__strip_tree_load(&flat, tree));
	compare(tree);
	ts_tree_delete(tree);
}

static void check_file(const char *folder, const char *name)
{
	static char text[1 << 16];
	char path[512];
	FILE *file;
	size_t len;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "rb");
	assert_non_null(file);
	len = fread(text, 1, sizeof(text), file);
	fclose(file);
	check(text, len);
	for (size_t cut = 1; cut < 8; cut++)
		check(text, len * cut / 8);
}

static void flat_tree_is_what_the_cursor_gives(void **state)
{
	static const char *const folders[] = { STRIP_CASES, STRIP_CORPUS,
		BENCH_PROGRAMS };

	(void)state;
	for (size_t i = 0; i < COUNT(folders); i++) {
		DIR *folder = opendir(folders[i]);
		struct dirent *entry;

		assert_non_null(folder);
		while ((entry = readdir(folder)) != NULL)
			if (entry->d_type == DT_REG)
				check_file(folders[i], entry->d_name);
		closedir(folder);
	}
	check("", 0);
	check("\n \n", 3);
	print_message("%zu nodes, %zu errors, %zu missing, %zu comments, "
		      "%zu with a field\n",
		nodes, broken, missing, extra, fields);
	assert_true(nodes > 10000 && broken > 100 && missing > 10);
	assert_true(extra > 10 && fields > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flat_tree_is_what_the_cursor_gives),
	};

	parser = ts_parser_new();
	if (!parser ||
		!ts_parser_set_language(parser, tree_sitter_typescript()))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

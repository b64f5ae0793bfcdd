/*
 * Takes the JSON texts of stdin apart, each a line, and prints their pieces, a
 * line each with an empty one behind the last: for pieces.test.mjs, which
 * knows what they have to add up to. It is built with small pieces.
 */
#include "../src/addon.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_pieces(const char *text, size_t len)
{
	static struct piece piece;
	struct pieces pieces;
	bool last = false;

	capsid__node_pieces_begin(&pieces);
	while (!last) {
		last = capsid__node_pieces_next(&piece, &pieces, text, len);
		if (piece.len > sizeof(piece.text))
			abort();
		fwrite(piece.text, 1, piece.len, stdout);
		putchar('\n');
	}
	putchar('\n');
}

int main(void)
{
	char *line = NULL, *text;
	size_t room = 0;
	ssize_t len;

	while ((len = getline(&line, &room, stdin)) > 1) {
		/* exactly as long as it is, for a sanitizer to see */
		text = malloc((size_t)len);
		if (text == NULL)
			return 1;
		memcpy(text, line, (size_t)len);
		text[len - 1] = '\0';
		print_pieces(text, (size_t)len - 1);
		free(text);
	}
	free(line);
	return 0;
}

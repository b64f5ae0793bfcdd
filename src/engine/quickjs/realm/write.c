/*
 * The outgoing message: a small buffer, handed to the host whenever it is
 * full, so that a 64 MiB value is never held twice in the guest. A message that
 * has to wait is kept in the guest's own memory instead.
 */
#include "engine/quickjs/realm/realm.h"

#define BUFFER 32768

static char buffer[BUFFER];
static size_t used;
static uint64_t flushed, limit;
/* A kept message so far. */
static bool keeping, keep_failed;
static char *kept;
static size_t kept_len, kept_room;

/* Bytes that JSON escapes, and how: 0 as it is, 1 as \u00xx. */
static const char escape[256] = {
	['"'] = '"',
	['\\'] = '\\',
	[0] = 1,
	[1] = 1,
	[2] = 1,
	[3] = 1,
	[4] = 1,
	[5] = 1,
	[6] = 1,
	[7] = 1,
	['\b'] = 'b',
	['\t'] = 't',
	['\n'] = 'n',
	[11] = 1,
	['\f'] = 'f',
	['\r'] = 'r',
	[14] = 1,
	[15] = 1,
	[16] = 1,
	[17] = 1,
	[18] = 1,
	[19] = 1,
	[20] = 1,
	[21] = 1,
	[22] = 1,
	[23] = 1,
	[24] = 1,
	[25] = 1,
	[26] = 1,
	[27] = 1,
	[28] = 1,
	[29] = 1,
	[30] = 1,
	[31] = 1,
	[0xED] = 2, /* may begin a surrogate */
};

void write_begin(uint64_t most)
{
	used = 0;
	flushed = 0;
	limit = most;
	keeping = false;
}

void write_begin_kept(uint64_t most)
{
	write_begin(most);
	keeping = true;
	keep_failed = false;
	kept_len = kept_room = 0;
}

static void keep(void)
{
	if (kept_len + used > kept_room) {
		size_t room = (kept_len + used) * 2;
		char *grown = realloc(kept, room);

		if (!grown) {
			keep_failed = true;
			return;
		}
		kept = grown;
		kept_room = room;
	}
	memcpy(kept + kept_len, buffer, used);
	kept_len += used;
}

static void flush(void)
{
	flushed += used;
	if (flushed <= limit) {
		if (keeping)
			keep();
		else
			host_part(buffer, used);
	}
	used = 0;
}

char *write_take(size_t *len)
{
	char *message;

	keep();
	message = kept;
	*len = kept_len;
	if (keep_failed) {
		free(kept);
		message = NULL;
	}
	kept = NULL;
	write_begin(0);
	return message;
}

void write_bytes(const void *data, size_t len)
{
	const char *from = data;

	while (len > BUFFER - used) {
		size_t room = BUFFER - used;
		memcpy(buffer + used, from, room);
		used = BUFFER;
		flush();
		from += room;
		len -= room;
	}
	memcpy(buffer + used, from, len);
	used += len;
}

void write_byte(char byte)
{
	if (used == BUFFER)
		flush();
	buffer[used++] = byte;
}

static void write_unit(unsigned unit)
{
	static const char hex[] = "0123456789abcdef";
	char text[6] = { '\\', 'u', hex[unit >> 12 & 15], hex[unit >> 8 & 15],
		hex[unit >> 4 & 15], hex[unit & 15] };

	write_bytes(text, sizeof(text));
}

/* Writes the special character at text[i]; returns how many bytes it took. */
static size_t write_special(const char *text, size_t i, size_t len)
{
	unsigned char byte = (unsigned char)text[i];
	unsigned char second;

	if (escape[byte] == 1) {
		write_unit(byte);
		return 1;
	}
	if (escape[byte] != 2) {
		char pair[2] = { '\\', escape[byte] };
		write_bytes(pair, 2);
		return 1;
	}
	second = i + 2 < len ? (unsigned char)text[i + 1] : 0;
	if (second < 0xA0) {
		write_byte((char)byte);
		return 1;
	}
	write_unit(0xD000u | (second & 0x3Fu) << 6 |
		   ((unsigned char)text[i + 2] & 0x3Fu));
	return 3;
}

void write_quoted(const char *text, size_t len)
{
	write_quoted_until(text, len, UINT64_MAX);
}

/* Characters that stand for themselves; false: it was cut. */
static bool write_plain(const char *text, size_t len, uint64_t most)
{
	uint64_t count = write_count();
	size_t fits = len;

	if (count > most)
		return false;
	if (len > most - count + 1) {
		/* one byte too many, or up to three more */
		fits = (size_t)(most - count) + 1;
		while (fits < len && ((unsigned char)text[fits] & 0xC0) == 0x80)
			fits++;
	}
	write_bytes(text, fits);
	return fits == len;
}

void write_quoted_until(const char *text, size_t len, uint64_t most)
{
	size_t from = 0, i = 0;
	bool whole = true;

	write_byte('"');
	while (whole && i < len) {
		if (!escape[(unsigned char)text[i]]) {
			i++;
			continue;
		}
		whole = write_plain(text + from, i - from, most);
		if (whole)
			i += write_special(text, i, len);
		from = i;
	}
	if (whole)
		write_plain(text + from, len - from, most);
	write_byte('"');
}

uint64_t write_count(void)
{
	return flushed + used;
}

bool write_over(void)
{
	return flushed + used > limit;
}

void write_drop(void)
{
	if (keeping) {
		free(kept);
		kept = NULL;
	} else if (flushed) {
		host_drop();
	}
	write_begin(0);
}

void write_send(int type, uint32_t id)
{
	host_send(type, id, buffer, used);
	write_begin(0);
}

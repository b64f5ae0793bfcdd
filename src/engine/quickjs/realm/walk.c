/*
 * The lossless walk: a JavaScript value as JSON text, without recursion and
 * without running any of the program's code. Only own property descriptors
 * are read, each once; prototypes are compared with those remembered before
 * the program began. A proxy is refused before it is asked anything. Values
 * are borrowed: nothing runs that could change what holds them.
 */
#include "engine/quickjs/realm/objects.h"
#include "engine/quickjs/realm/realm.h"

struct level {
	JSValue object;
	JSPropertyEnum *names; /* NULL: its slots are read where they lie */
	const struct object_property *properties; /* NULL: an array's */
	const JSValue *slots;
	uint32_t count, next;
	bool is_array;
	bool wrote; /* a comma is due before the next member */
};

/* Keys of recent objects as they are written: "name": */
#define KEY_CACHE 64
#define KEY_MAX 40
struct key {
	JSAtom atom;
	uint32_t len;
	char text[KEY_MAX];
};

/* How many members are written before the host is asked once. */
#define POLL_EVERY 4096

struct walker {
	JSContext *ctx;
	struct level *levels;
	size_t depth, room;
	uint32_t *open;   /* hash set of the objects on the way down */
	size_t open_size; /* a power of two */
	const char *what; /* what was found that is not JSON */
	bool has_name;    /* the last level's last name is part of the place */
};

static JSValue object_proto, array_proto;
static struct key keys[KEY_CACHE];
static char why_text[512];
static size_t why_len;

void walk_init(JSContext *ctx)
{
	object_proto = JS_GetClassProto(ctx, JS_CLASS_OBJECT);
	array_proto = JS_GetClassProto(ctx, JS_CLASS_ARRAY);
}

/* --- saying where and what --- */

static void why_add(const char *text, size_t len)
{
	size_t room = sizeof(why_text) - why_len;

	if (len > room)
		len = room;
	memcpy(why_text + why_len, text, len);
	why_len += len;
}

static bool plain_name(const char *text, size_t len)
{
	if (len == 0 || len > 64)
		return false;
	for (size_t i = 0; i < len; i++) {
		char c = text[i];
		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			    c == '_' || c == '$' ||
			    (i > 0 && c >= '0' && c <= '9')))
			return false;
	}
	return true;
}

/* The name of its nth member. */
static JSAtom name_of(const struct level *level, uint32_t n)
{
	if (level->names)
		return level->names[n].atom;
	return level->properties ? level->properties[n].atom : n | ATOM_INDEX;
}

/* One step of the path: .name, [3] or ["odd name"]. */
static void why_step(JSContext *ctx, const struct level *level)
{
	size_t len = 0;
	const char *text =
		JS_AtomToCStringLen(ctx, &len, name_of(level, level->next - 1));

	if (!text)
		return;
	if (level->is_array) {
		why_add("[", 1);
		why_add(text, len);
		why_add("]", 1);
	} else if (plain_name(text, len)) {
		why_add(".", 1);
		why_add(text, len);
	} else {
		why_add("[\"", 2);
		for (size_t i = 0; i < len && i < 64; i++) {
			char c = text[i] < ' ' && text[i] >= 0 ? ' ' : text[i];
			if (c == '"' || c == '\\')
				why_add("\\", 1);
			why_add(&c, 1);
		}
		why_add(len > 64 ? "...\"]" : "\"]", len > 64 ? 5 : 2);
	}
	JS_FreeCString(ctx, text);
}

static void why_build(struct walker *w)
{
	size_t shown = w->has_name ? w->depth : w->depth ? w->depth - 1 : 0;

	why_len = 0;
	why_add("$", 1);
	for (size_t i = 0; i < shown; i++) {
		if (shown > 12 && i == 6) {
			why_add("...", 3);
			i = shown - 6;
		}
		why_step(w->ctx, &w->levels[i]);
	}
	why_add(" ", 1);
	why_add(w->what, strlen(w->what));
}

static bool refuse(struct walker *w, const char *what)
{
	w->what = what;
	return false;
}

/* The name of the constructor that a prototype shows, without running code. */
static void class_name_of(JSContext *ctx, JSValue proto, char *out, size_t room)
{
	JSPropertyDescriptor constructor = { .value = JS_UNDEFINED }, name;
	JSAtom atom = JS_NewAtomLen(ctx, "constructor", 11);
	const char *text = NULL;
	size_t len = 0;

	if (!JS_IsProxy(proto) &&
		JS_GetOwnProperty(ctx, &constructor, proto, atom) > 0 &&
		JS_IsObject(constructor.value) &&
		!JS_IsProxy(constructor.value)) {
		JS_FreeAtom(ctx, atom);
		atom = JS_NewAtomLen(ctx, "name", 4);
		if (JS_GetOwnProperty(ctx, &name, constructor.value, atom) >
				0 &&
			JS_IsString(name.value))
			text = JS_ToCStringLen2(ctx, &len, name.value, false);
	}
	JS_FreeAtom(ctx, atom);
	if (!plain_name(text, text ? len : 0)) {
		text = "class";
		len = 5;
	}
	if (len > room - 1)
		len = room - 1;
	memcpy(out, text, len);
	out[len] = '\0';
}

static const char *article(const char *name)
{
	return name[0] && (name[0] == 'A' || name[0] == 'E' || name[0] == 'I' ||
				  name[0] == 'O' || name[0] == 'U')
		       ? "an "
		       : "a ";
}

/* An object that is neither plain nor an array: "is a Date". */
static bool refuse_object(struct walker *w, JSValue object)
{
	static char text[96];
	JSContext *ctx = w->ctx;
	uint32_t class_id = JS_GetClassID(object);
	char name[64] = "object";
	JSAtom atom;
	const char *class_text;
	size_t len = 0;
	const char *tail = "";

	if (JS_IsProxy(object))
		return refuse(w, "is a Proxy");
	if (JS_IsFunction(ctx, object))
		return refuse(w, "is a function");
	if (class_id == JS_CLASS_OBJECT || class_id == JS_CLASS_ARRAY ||
		class_id == JS_CLASS_ERROR) {
		class_name_of(
			ctx, JS_GetPrototype(ctx, object), name, sizeof(name));
		tail = class_id == JS_CLASS_ERROR ? "" : " instance";
	} else {
		atom = JS_GetClassName(realm_runtime, class_id);
		class_text = JS_AtomToCStringLen(ctx, &len, atom);
		if (class_text && len < sizeof(name)) {
			memcpy(name, class_text, len);
			name[len] = '\0';
		}
	}
	memcpy(text, "is ", 3);
	len = 3;
	for (const char *part = article(name); *part; part++)
		text[len++] = *part;
	memcpy(text + len, name, strlen(name));
	len += strlen(name);
	memcpy(text + len, tail, strlen(tail) + 1);
	return refuse(w, text);
}

/* --- the set of objects on the way down --- */

static size_t open_slot(const struct walker *w, uint32_t address)
{
	size_t mask = w->open_size - 1;
	size_t i = (address >> 3) * 2654435761u & mask;

	while (w->open[i] && w->open[i] != address)
		i = (i + 1) & mask;
	return i;
}

static bool open_grow(struct walker *w)
{
	uint32_t *old = w->open;
	size_t old_size = w->open_size;

	w->open_size = old_size ? old_size * 2 : 64;
	w->open = malloc(w->open_size * sizeof(*w->open));
	if (!w->open)
		return false;
	memset(w->open, 0, w->open_size * sizeof(*w->open));
	for (size_t i = 0; i < old_size; i++) {
		if (old[i])
			w->open[open_slot(w, old[i])] = old[i];
	}
	free(old);
	return true;
}

/* False: the object is on the way down already. */
static bool open_add(struct walker *w, uint32_t address)
{
	size_t i;

	if (w->depth * 2 >= w->open_size && !open_grow(w))
		return false;
	i = open_slot(w, address);
	if (w->open[i])
		return false;
	w->open[i] = address;
	return true;
}

/* Linear probing without tombstones: what follows moves up. */
static void open_remove(struct walker *w, uint32_t address)
{
	size_t mask = w->open_size - 1;
	size_t i = open_slot(w, address);
	uint32_t moved;

	w->open[i] = 0;
	for (i = (i + 1) & mask; (moved = w->open[i]); i = (i + 1) & mask) {
		w->open[i] = 0;
		w->open[open_slot(w, moved)] = moved;
	}
}

/* --- writing --- */

static bool write_number(struct walker *w, JSValue value)
{
	double number = JS_Float64(value);
	size_t len;
	const char *text;

	if (number != number)
		return refuse(w, "is NaN");
	if (number - number != 0)
		return refuse(w, number > 0 ? "is Infinity" : "is -Infinity");
	if (number == 0 && 1 / number < 0)
		return refuse(w, "is -0");
	text = JS_ToCStringLen2(w->ctx, &len, value, false);
	if (!text)
		return refuse(w, "is a number out of memory");
	write_bytes(text, len);
	JS_FreeCString(w->ctx, text);
	return true;
}

static void write_int(int32_t number)
{
	char text[12];
	size_t at = sizeof(text);
	uint32_t rest = number < 0 ? 0u - (uint32_t)number : (uint32_t)number;

	do {
		text[--at] = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest);
	if (number < 0)
		text[--at] = '-';
	write_bytes(text + at, sizeof(text) - at);
}

static bool write_string(struct walker *w, JSValue value)
{
	size_t len;
	const char *text = JS_ToCStringLen2(w->ctx, &len, value, false);

	if (!text)
		return refuse(w, "is a string out of memory");
	write_quoted(text, len);
	JS_FreeCString(w->ctx, text);
	return true;
}

static void write_key(struct walker *w, JSAtom atom)
{
	struct key *key = &keys[atom % KEY_CACHE];
	uint64_t before;
	size_t len;
	const char *text;

	if (key->atom == atom) {
		write_bytes(key->text, key->len);
		return;
	}
	text = JS_AtomToCStringLen(w->ctx, &len, atom);
	if (!text)
		return;
	before = write_count();
	write_quoted(text, len);
	write_byte(':');
	if (len + 3 <= KEY_MAX && write_count() - before == len + 3) {
		if (key->atom)
			JS_FreeAtom(w->ctx, key->atom);
		key->atom = JS_DupAtom(w->ctx, atom);
		key->len = (uint32_t)len + 3;
		key->text[0] = '"';
		memcpy(key->text + 1, text, len);
		key->text[len + 1] = '"';
		key->text[len + 2] = ':';
	}
	JS_FreeCString(w->ctx, text);
}

/* --- containers --- */

static bool plain(const struct object *object)
{
	uint32_t proto = object->shape->proto;

	if (object->class_id == JS_CLASS_ARRAY)
		return proto == JS_Address(array_proto);
	return object->class_id == JS_CLASS_OBJECT &&
	       (proto == 0 || proto == JS_Address(object_proto));
}

/* A key that was written before is none. */
static bool is_symbol(JSContext *ctx, JSAtom atom)
{
	JSValue name;
	bool is;

	if (keys[atom % KEY_CACHE].atom == atom)
		return false;
	name = JS_AtomToValue(ctx, atom);
	is = JS_Tag(name) == JS_TAG_SYMBOL;
	JS_FreeValue(ctx, name);
	return is;
}

/* All its keys are strings that are no indices (those come in an order of
 * their own), all its values data: then it can be read where it lies. */
static bool lies_plain(JSContext *ctx, const struct object *object)
{
	const struct object_shape *shape = object->shape;
	const struct object_property *properties = object_properties(shape);

	if ((object->flags & OBJECT_EXOTIC) || shape->deleted != 0)
		return false;
	for (uint32_t i = 0; i < shape->count; i++) {
		if ((properties[i].atom & ATOM_INDEX) ||
			!object_is_data(&properties[i]) ||
			is_symbol(ctx, properties[i].atom))
			return false;
	}
	return true;
}

/* False: the API has to be asked. */
static bool read_in_place(struct walker *w, struct level *level)
{
	const struct object *object = object_at(level->object);

	if (level->is_array) {
		level->slots = object->elements;
		level->count = object->elements_count;
		return object_is_dense(object);
	}
	level->properties = object_properties(object->shape);
	level->slots = object->slots;
	level->count = object->shape->count;
	return lies_plain(w->ctx, object);
}

/* An array's own keys are its indices and its length, nothing else. */
static bool dense(struct walker *w, struct level *level)
{
	int64_t length = 0;

	if (JS_GetLength(w->ctx, level->object, &length) < 0)
		return refuse(w, "is an array without a length");
	if ((int64_t)level->count < length + 1)
		return refuse(w, "is an array with holes");
	if ((int64_t)level->count > length + 1)
		return refuse(w, "is an array with extra properties");
	/* the engine lists indices first and in order: `length` is last */
	level->count--;
	return true;
}

static bool list_names(struct walker *w, struct level *level)
{
	if (JS_GetOwnPropertyNames(w->ctx, &level->names, &level->count,
		    level->object, JS_GPN_STRING_MASK | JS_GPN_SYMBOL_MASK) < 0)
		return refuse(w, "is unreadable");
	if (level->is_array && !dense(w, level)) {
		JS_FreePropertyEnum(w->ctx, level->names, level->count);
		return false;
	}
	return true;
}

static bool enter(struct walker *w, JSValue object)
{
	struct level level = { .object = object };

	if (!plain(object_at(object)))
		return refuse_object(w, object);
	level.is_array = object_at(object)->class_id == JS_CLASS_ARRAY;
	if (w->depth == w->room) {
		size_t room = w->room ? w->room * 2 : 16;
		struct level *grown = realloc(w->levels, room * sizeof(*grown));
		if (!grown)
			return refuse(w, "is too deep for the memory");
		w->levels = grown;
		w->room = room;
	}
	if (!open_add(w, JS_Address(object)))
		return refuse(w, "is a circular reference");
	if (!read_in_place(w, &level) && !list_names(w, &level))
		return false;
	w->levels[w->depth++] = level;
	w->has_name = false;
	write_byte(level.is_array ? '[' : '{');
	return true;
}

static void level_done(struct walker *w)
{
	struct level *level = &w->levels[--w->depth];

	/* an array's `length` was taken off the count */
	if (level->names)
		JS_FreePropertyEnum(
			w->ctx, level->names, level->count + level->is_array);
}

static void leave(struct walker *w)
{
	struct level *level = &w->levels[w->depth - 1];

	write_byte(level->is_array ? ']' : '}');
	open_remove(w, JS_Address(level->object));
	level_done(w);
}

/* Reads a slot through the API, once. */
static bool read_slot(struct walker *w, JSValue *value,
	const struct level *level, JSAtom name)
{
	JSPropertyDescriptor slot;

	if (JS_GetOwnProperty(w->ctx, &slot, level->object, name) <= 0)
		return refuse(w, "is a hole");
	JS_FreeValue(w->ctx, slot.value); /* the container keeps it */
	JS_FreeValue(w->ctx, slot.getter);
	JS_FreeValue(w->ctx, slot.setter);
	if (!level->is_array && is_symbol(w->ctx, name)) {
		w->has_name = false;
		return refuse(w, "has a symbol key");
	}
	if (slot.flags & JS_PROP_GETSET)
		return refuse(w, "is an accessor property");
	if (!(slot.flags & JS_PROP_ENUMERABLE))
		return refuse(w, "is a non-enumerable property");
	*value = slot.value;
	return true;
}

/* The next member of the innermost container, as far as its value. */
static bool next_member(struct walker *w, JSValue *value)
{
	struct level *level = &w->levels[w->depth - 1];
	uint32_t n = level->next++;

	w->has_name = true;
	if (!level->names)
		*value = level->slots[n];
	else if (!read_slot(w, value, level, name_of(level, n)))
		return false;
	if (level->wrote)
		write_byte(',');
	level->wrote = true;
	if (!level->is_array)
		write_key(w, name_of(level, n));
	return true;
}

static bool write_one(struct walker *w, JSValue value)
{
	switch (JS_Tag(value)) {
	case JS_TAG_INT:
		write_int((int32_t)value);
		return true;
	case JS_TAG_BOOL:
		if (value == JS_TRUE)
			write_bytes("true", 4);
		else
			write_bytes("false", 5);
		return true;
	case JS_TAG_NULL:
		write_bytes("null", 4);
		return true;
	case JS_TAG_FLOAT64:
		return write_number(w, value);
	case JS_TAG_STRING:
	case JS_TAG_STRING_ROPE:
		return write_string(w, value);
	case JS_TAG_OBJECT:
		return enter(w, value);
	case JS_TAG_UNDEFINED:
		return refuse(w, "is undefined");
	case JS_TAG_SYMBOL:
		return refuse(w, "is a symbol");
	case JS_TAG_BIG_INT:
	case JS_TAG_SHORT_BIG_INT:
		return refuse(w, "is a BigInt");
	default:
		return refuse(w, "is not a JSON value");
	}
}

bool walk_value(JSContext *ctx, JSValue value, const char **why, size_t *len)
{
	struct walker w = { .ctx = ctx };
	uint32_t members = 0;
	bool ok = write_one(&w, value);

	while (ok && w.depth) {
		struct level *level = &w.levels[w.depth - 1];
		if (level->next == level->count)
			leave(&w);
		else
			ok = next_member(&w, &value) && write_one(&w, value);
		/* what is shared and shared again has no end */
		if (ok && ++members % POLL_EVERY == 0 && host_interrupted())
			ok = refuse(&w, "is too large for the time at hand");
	}
	if (!ok) {
		why_build(&w);
		*why = why_text;
		*len = why_len;
	}
	while (w.depth)
		level_done(&w);
	free(w.levels);
	free(w.open);
	return ok;
}

/* --- the builder's check of objects.h --- */

/* What is read in place is what the API reads. */
static bool reads_alike(JSContext *ctx, const struct level *level)
{
	struct level asked = { .object = level->object };
	JSPropertyDescriptor slot;
	bool alike = JS_GetOwnPropertyNames(ctx, &asked.names, &asked.count,
			     asked.object,
			     JS_GPN_STRING_MASK | JS_GPN_SYMBOL_MASK) >= 0 &&
		     asked.count == level->count + level->is_array;

	for (uint32_t i = 0; alike && i < level->count; i++) {
		alike = name_of(level, i) == asked.names[i].atom &&
			JS_GetOwnProperty(ctx, &slot, asked.object,
				asked.names[i].atom) > 0 &&
			slot.value == level->slots[i];
		JS_FreeValue(ctx, slot.value);
	}
	JS_FreePropertyEnum(ctx, asked.names, asked.count);
	return alike;
}

bool walk_layout_holds(JSContext *ctx, JSValue sample, bool simple)
{
	struct walker w = { .ctx = ctx };
	struct level level = { .object = sample,
		.is_array = JS_GetClassID(sample) == JS_CLASS_ARRAY };
	JSValue proto = JS_GetPrototype(ctx, sample);
	uint32_t address = JS_IsObject(proto) ? JS_Address(proto) : 0;

	JS_FreeValue(ctx, proto);
	if (object_at(sample)->class_id != JS_GetClassID(sample) ||
		object_at(sample)->shape->proto != address ||
		read_in_place(&w, &level) != simple)
		return false;
	return !simple || reads_alike(ctx, &level);
}

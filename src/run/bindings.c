/*
 * Building bindings: every rule is checked as a name is added, so that a run
 * finds nothing left to refuse.
 */
#include "run/bindings.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

/* A guest has the host look up names of this length and no longer. */
#define NAME_MAX_BYTES 1024

static int no_memory(capsid_error *err)
{
	return capsid__error_set(
		err, CAPSID_ENOMEM, "no memory for the bindings");
}

int capsid_bindings_new(capsid_bindings **out, capsid_error *err)
{
	capsid_bindings *bindings = calloc(1, sizeof(*bindings));

	if (bindings == NULL)
		return no_memory(err);
	atomic_init(&bindings->refs, 1);
	pthread_mutex_init(&bindings->lock, NULL);
	capsid__names_init(&bindings->names);
	*out = bindings;
	return 0;
}

capsid_bindings *capsid_bindings_ref(capsid_bindings *bindings)
{
	atomic_fetch_add(&bindings->refs, 1);
	return bindings;
}

static void namespace_done(struct capsid__namespace *namespace)
{
	for (size_t i = 0; i < namespace->count; i++)
		free(namespace->functions[i].name);
	free(namespace->functions);
	free(namespace->global);
	free(namespace->error_class);
	free(namespace->member_property);
}

void capsid_bindings_unref(capsid_bindings *bindings)
{
	if (bindings == NULL || atomic_fetch_sub(&bindings->refs, 1) != 1)
		return;
	for (size_t i = 0; i < bindings->count; i++)
		namespace_done(&bindings->namespaces[i]);
	free(bindings->namespaces);
	capsid__names_done(&bindings->names);
	capsid__buf_done(&bindings->block);
	pthread_mutex_destroy(&bindings->lock);
	free(bindings);
}

/* Room for one more element, in powers of two. */
static void *room_for(void *array, size_t count, size_t each)
{
	if (count != 0 && (count & (count - 1)) != 0)
		return array;
	return realloc(array, (count ? count * 2 : 1) * each);
}

static int in_use(capsid_error *err)
{
	return capsid__error_set(err, CAPSID_EINVAL,
		"bindings cannot be changed once a run has used them");
}

int capsid_bindings_add_namespace(capsid_bindings *bindings, const char *global,
	const char *error_class, const char *member_property, capsid_error *err)
{
	struct capsid__namespace *grown, made = { 0 };
	int code;

	if (bindings->frozen)
		return in_use(err);
	if (global != NULL && strlen(global) > NAME_MAX_BYTES)
		return capsid__error_set(err, CAPSID_EINVAL,
			"a namespace's global has %zu bytes; at most %d are "
			"possible",
			strlen(global), NAME_MAX_BYTES);
	if (global == NULL ||
		(error_class == NULL) != (member_property == NULL))
		return capsid__error_set(err, CAPSID_EINVAL,
			"a namespace needs a global, and an error class and "
			"its member property only together");
	grown = room_for(bindings->namespaces, bindings->count, sizeof(*grown));
	if (grown == NULL)
		return no_memory(err);
	bindings->namespaces = grown;
	made.global = strdup(global);
	if (error_class != NULL) {
		made.error_class = strdup(error_class);
		made.member_property = strdup(member_property);
	}
	code = made.global == NULL ||
			       (error_class != NULL &&
				       (made.error_class == NULL ||
					       made.member_property == NULL))
		       ? no_memory(err)
		       : capsid__names_add(&bindings->names, global,
				 error_class, member_property, err);
	if (code != 0) {
		namespace_done(&made);
		return code;
	}
	grown[bindings->count++] = made;
	return 0;
}

static struct capsid__namespace *find_namespace(
	capsid_bindings *bindings, const char *global)
{
	for (size_t i = 0; i < bindings->count; i++) {
		if (strcmp(bindings->namespaces[i].global, global) == 0)
			return &bindings->namespaces[i];
	}
	return NULL;
}

static bool has_function(const struct capsid__namespace *namespace,
	const char *name, size_t name_len)
{
	for (size_t i = 0; i < namespace->count; i++) {
		const struct capsid__function *other = &namespace->functions[i];
		if (other->name_len == name_len &&
			(name_len == 0 ||
				memcmp(other->name, name, name_len) == 0))
			return true;
	}
	return false;
}

int capsid_bindings_add_function(capsid_bindings *bindings, const char *global,
	const char *name, size_t name_len, capsid_function function,
	void *payload, capsid_error *err)
{
	struct capsid__namespace *namespace;
	struct capsid__function *grown;
	CAPSID__AUTO_FREE char *copy = NULL;

	if (bindings->frozen)
		return in_use(err);
	if (global == NULL || function == NULL || (name == NULL && name_len))
		return capsid__error_set(err, CAPSID_EINVAL,
			"a function needs a namespace, a name and code");
	namespace = find_namespace(bindings, global);
	if (namespace == NULL)
		return capsid__error_set(err, CAPSID_EINVAL,
			"there is no namespace \"%s\" to add a function to",
			global);
	if (name_len > NAME_MAX_BYTES)
		return capsid__error_set(err, CAPSID_EINVAL,
			"a function name in \"%s\" has %zu bytes; at most %d "
			"are possible",
			global, name_len, NAME_MAX_BYTES);
	if (!capsid__utf8_valid(name, name_len, NULL))
		return capsid__error_set(err, CAPSID_EINVAL,
			"a function name in \"%s\" is not UTF-8", global);
	if (has_function(namespace, name, name_len))
		return capsid__error_set(err, CAPSID_EINVAL,
			"duplicate function \"%.*s\" in \"%s\"", (int)name_len,
			name, global);
	copy = malloc(name_len + 1);
	grown = room_for(
		namespace->functions, namespace->count, sizeof(*grown));
	if (grown != NULL)
	namespace->functions = grown;
	if (copy == NULL || grown == NULL)
		return no_memory(err);
	if (name_len != 0)
		memcpy(copy, name, name_len);
	copy[name_len] = '\0';
	grown[namespace->count++] = (struct capsid__function){
		.name = CAPSID__TAKE(copy),
		.name_len = name_len,
		.function = function,
		.payload = payload,
	};
	/* cppcheck-suppress memleak; the namespace has it */
	return 0;
}

/* --- the block that goes down --- */

static bool add_number(struct capsid__buf *out, size_t number)
{
	uint32_t value = (uint32_t)number;

	return capsid__buf_append(out, &value, sizeof(value));
}

static bool add_text(struct capsid__buf *out, const char *text, size_t len)
{
	return add_number(out, len) && capsid__buf_append(out, text, len);
}

static bool add_name(struct capsid__buf *out, const char *name)
{
	return add_text(out, name, name ? strlen(name) : 0);
}

static bool add_namespace(
	struct capsid__buf *out, const struct capsid__namespace *namespace)
{
	bool ok = add_name(out, namespace->global) &&
		  add_name(out, namespace->error_class) &&
		  add_name(out, namespace->member_property) &&
		  add_number(out, namespace->count);

	for (size_t i = 0; ok && i < namespace->count; i++)
		ok = add_text(out, namespace->functions[i].name,
			namespace->functions[i].name_len);
	return ok;
}

static bool build_block(capsid_bindings *bindings)
{
	bool ok = add_number(&bindings->block, bindings->count);

	for (size_t i = 0; ok && i < bindings->count; i++)
		ok = add_namespace(&bindings->block, &bindings->namespaces[i]);
	if (!ok)
		capsid__buf_done(&bindings->block);
	return ok;
}

int capsid__bindings_freeze(struct capsid__span *block,
	capsid_bindings *bindings, capsid_error *err)
{
	static const char none[4] = { 0 };
	bool ok;

	if (bindings == NULL) {
		*block = (struct capsid__span){ none, sizeof(none) };
		return 0;
	}
	pthread_mutex_lock(&bindings->lock);
	ok = bindings->frozen || build_block(bindings);
	bindings->frozen = ok;
	pthread_mutex_unlock(&bindings->lock);
	if (!ok)
		return no_memory(err);
	*block = (struct capsid__span){ bindings->block.data,
		bindings->block.len };
	return 0;
}

const struct capsid__function *capsid__bindings_find(
	const capsid_bindings *bindings, uint32_t namespace, uint32_t function)
{
	if (bindings == NULL || namespace >= bindings->count ||
		function >= bindings->namespaces[namespace].count)
		return NULL;
	return &bindings->namespaces[namespace].functions[function];
}

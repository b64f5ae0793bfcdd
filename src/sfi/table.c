/*
 * wasm-rt.h's function tables and function types. Types are a process-wide
 * registry that only grows: a type must have the same number in every module,
 * and modules are initialised once.
 */
#include "sfi/sfi.h"

#include <pthread.h>
#include <stdarg.h>

#define MAX_TYPES 1024
#define MAX_ARITY 32

struct type {
	uint32_t params, results;
	uint8_t kinds[MAX_ARITY];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct type types[MAX_TYPES];
static uint32_t type_count;

static bool same(const struct type *a, const struct type *b)
{
	return a->params == b->params && a->results == b->results &&
	       memcmp(a->kinds, b->kinds, a->params + a->results) == 0;
}

uint32_t wasm_rt_register_func_type(uint32_t params, uint32_t results, ...)
{
	struct type type = { .params = params, .results = results };
	uint32_t i;
	va_list args;

	if (params + results > MAX_ARITY)
		abort(); /* the build's modules are fixed: cannot happen */
	va_start(args, results);
	for (i = 0; i < params + results; i++)
		type.kinds[i] = (uint8_t)va_arg(args, int);
	va_end(args);
	pthread_mutex_lock(&lock);
	for (i = 0; i < type_count && !same(&types[i], &type); i++)
		;
	if (i == MAX_TYPES)
		abort();
	if (i == type_count)
		types[type_count++] = type;
	pthread_mutex_unlock(&lock);
	return i + 1;
}

void wasm_rt_allocate_funcref_table(wasm_rt_funcref_table_t *table,
	uint32_t elements, uint32_t max_elements)
{
	table->data = calloc(elements ? elements : 1, sizeof(*table->data));
	if (table->data == NULL)
		capsid__box_raise(CAPSID__TRAP_HEAP);
	table->size = elements;
	table->max_size = max_elements;
}

uint32_t wasm_rt_grow_funcref_table(
	wasm_rt_funcref_table_t *table, uint32_t delta, wasm_rt_funcref_t init)
{
	uint32_t old = table->size, size;
	wasm_rt_funcref_t *grown;

	if (__builtin_add_overflow(old, delta, &size) || size > table->max_size)
		return UINT32_MAX;
	grown = realloc(table->data, (size_t)size * sizeof(*grown));
	if (grown == NULL)
		return UINT32_MAX;
	table->data = grown;
	for (uint32_t i = old; i < size; i++)
		grown[i] = init;
	table->size = size;
	return old;
}

void wasm_rt_free_funcref_table(wasm_rt_funcref_table_t *table)
{
	free(table->data);
	table->data = NULL;
	table->size = 0;
}

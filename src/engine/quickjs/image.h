/*
 * The snapshot's image as the build leaves it in the library: a header, then
 * the 4 KiB pages that are not all zero.
 */
#ifndef CAPSID_ENGINE_QUICKJS_IMAGE_H
#define CAPSID_ENGINE_QUICKJS_IMAGE_H

#include <stdint.h>

#define CAPSID__IMAGE_MAGIC 0x31474d4943504143ull /* "CAPCIMG1" */
#define CAPSID__IMAGE_PAGE 4096u

struct capsid__image {
	uint64_t magic;
	uint32_t size;  /* bytes of memory */
	uint32_t count; /* pages that follow */
};

struct capsid__image_page {
	uint32_t number;
	uint8_t bytes[CAPSID__IMAGE_PAGE];
};

#endif

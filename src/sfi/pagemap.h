/*
 * PAGEMAP_SCAN (Linux 6.7): the kernel's list of pages by state. The numbers
 * are the kernel's interface, include/uapi/linux/fs.h; Debian 12's headers are
 * older than it.
 */
#ifndef CAPSID_SFI_PAGEMAP_H
#define CAPSID_SFI_PAGEMAP_H

#include <linux/ioctl.h>
#include <stdint.h>

#define CAPSID__PAGE_IS_FILE (1u << 2)
#define CAPSID__PAGE_IS_PRESENT (1u << 3)
#define CAPSID__PAGE_IS_SWAPPED (1u << 4)

struct capsid__page_region {
	uint64_t start, end, categories;
};

struct capsid__pm_scan {
	uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
	uint64_t category_inverted, category_mask, category_anyof_mask;
	uint64_t return_mask;
};

#define CAPSID__PAGEMAP_SCAN _IOWR('f', 16, struct capsid__pm_scan)

#endif

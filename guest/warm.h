/*
 * Page faults ahead of time: most of a short run is the kernel giving it, one
 * by one, the pages of the snapshot that every run writes. The zygote learns
 * which they are; a child takes them while nobody waits for it. A hint only:
 * no content changes.
 */
#ifndef CAPSID_GUEST_WARM_H
#define CAPSID_GUEST_WARM_H

#include "engine/quickjs/engine.h"

/* In the zygote: by a run of its own, in a slot of its own. */
void capsid__warm_learn(struct capsid__engine *engine);
/* In the child, whose slot is fresh. */
void capsid__warm(struct capsid__slot *slot);

#endif

/* spill.h: large blocks that lie in files: the machine's way to hold more than its memory.
 *
 * Where the host names a folder (`spill` of stc_config), blocks from a size on are mapped
 * files there, which have no name and are gone when the block is freed, or the process.
 * Their pages come and go as the system sees fit, and don't count against the cap.
 */
#ifndef STC_FORMATS_SPILL_H
#define STC_FORMATS_SPILL_H

#include "context.h"

/* From which size on blocks lie in files, under a cap on memory (0: none). */
uint64_t spill_least(uint64_t max_memory);
static inline bool spill_takes(const ctx *root, size_t size)
{
    return root->spill && size >= root->spill_least;
}
/* A block, or a larger or smaller one in place of another such (which may move): NULL and
 * errno where the folder has no room, and the other block is as it was. */
void *spill_resize(const ctx *root, void *block, size_t size);
void spill_free(void *block);

#endif

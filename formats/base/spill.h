/* spill.h: large blocks that lie in files: the machine's way to hold more than its memory.
 *
 * Where the host names a folder (`spill` of stc_config), blocks from a size on are mapped
 * from files there, which have no name and are gone when their last block is freed, or the
 * process. Pages come and go as the system sees fit, and don't count against the cap.
 *
 * Blocks of a machine share a file where they can, each with far more places in it than it
 * takes, so that it can grow: the places that have no block are holes. What a tensor's
 * arrays lie in can thus become its file, by taking the holes out (spill_take).
 */
#ifndef STC_FORMATS_SPILL_H
#define STC_FORMATS_SPILL_H

#include "context.h"

/* Ahead of the first block of a file, and of each block in memory: a page of the system's,
 * or several. */
#if defined(__x86_64__) || defined(__i386__)
enum { SPILL_PAGE = 1 << 12 };
#else
enum { SPILL_PAGE = 1 << 16 };
#endif

/* From which size on blocks lie in files, under a cap on memory (0: none). */
uint64_t spill_least(uint64_t max_memory);
static inline bool spill_takes(const ctx *root, size_t size)
{
    return root->spill && size >= root->spill_least;
}
/* A block, or a larger or smaller one in place of another such (which may move): NULL and
 * errno where the folder has no room, and the other block is as it was. */
void *spill_resize(ctx *root, void *block, size_t size);
void spill_free(void *block);
/* Writes n bytes into a block, at `to`, by way of its file: the system needn't find a page
 * for each place first, and clear it. Many go to the disk at once, past the system's cache.
 * False: they aren't there, or not all. */
bool spill_write(void *block, void *to, const void *from, size_t n);
/* The sum (sum.h) of what a block has, kept as it is written, so that it needn't be read
 * for that: n bytes are put at `to`, each byte once; all of it is to be put anew, or has
 * that many bytes from elsewhere; that of its first n bytes, if all were put and nothing
 * else was; false: it isn't known. A change in memory has to be followed by spill_unsum.
 * The first page, and what came from elsewhere, may be written in any way meanwhile. */
void spill_sum(void *block, const void *to, const void *from, size_t n);
void spill_unsum(void *block, size_t there);
bool spill_summed(void *block, size_t n, uint64_t *sum);
/* Room for SPILL_ROOM bytes of a block, into which spill_read puts n from byte `at` on, a
 * multiple of that, past the system's cache, for bytes needed once. NULL, or false:
 * they are to be had from memory alone. A machine keeps a few of them. */
enum { SPILL_ROOM = 1 << 21 };
char *spill_room(void *block);
bool spill_read(void *block, size_t at, char *room, size_t n);
void spill_room_leave(void *block, char *room);

/* What is left when all blocks have been freed. */
void spill_end(ctx *root);

/* A block that becomes a part of a file: the bytes of it that count, and where they lie
 * then, a multiple of a page. */
typedef struct spill_part {
    void *block;
    size_t used;
    uint64_t offset;
} spill_part;
/* The file that all of them lie in, and little else: its descriptor, else -1. */
int spill_shared(const ctx *root, const spill_part *part, int n);
/* Makes that file one of these parts alone, one after the other behind its first page;
 * blocks of others move to another. The blocks are private views of their parts from then
 * on: they stay where they are, what is written to them isn't written to the file, and they
 * are freed by spill_free but not resized. False and errno: the file isn't that; where
 * *viewed is false, too, all is as it was. */
bool spill_take(ctx *root, spill_part *part, int n, bool *viewed);

#endif

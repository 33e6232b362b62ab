/* spill.c: blocks in files (spill.h).
 *
 * A file has a page ahead of its block, which says what it is: nothing else needs to know
 * the blocks that there are. Room on the disk is taken when a block is made or grows, so
 * that a full disk is an error of that call, and not the end of the process when a page is
 * written that has no place.
 */
#define _GNU_SOURCE
#include "spill.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

enum {
    PAGE = 1 << 12,
    PART = 32,       /* of a cap: what is larger goes to files        */
    SMALL = 1 << 16, /* nothing below does                            */
    USUAL = 1 << 26  /* without a cap                                 */
};

typedef struct spill_page {
    int fd;
    size_t bytes; /* of the file: this page and the block, whole pages */
} spill_page;

uint64_t spill_least(uint64_t max_memory)
{
    if (!max_memory) return USUAL;
    return max_memory / PART > SMALL ? max_memory / PART : SMALL;
}

static spill_page *page_of(void *block)
{
    return (spill_page *)(void *)((char *)block - PAGE);
}

/* A file without a name: -1 and errno. */
static int open_nameless(const char *folder)
{
    char path[PATH_MAX];
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) return fd;
    /* the file system has no such files: one that loses its name at once */
    if (snprintf(path, sizeof path, "%s/.stcvm-XXXXXX", folder) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0) unlink(path);
    return fd;
}

/* Room on the disk for bytes [from, to) of a file. */
static bool take_room(int fd, size_t from, size_t to)
{
    int why;
    do
        why = posix_fallocate(fd, (off_t)from, (off_t)(to - from));
    while (why == EINTR);
    errno = why;
    return why == 0;
}

static void *spill_new(const char *folder, size_t bytes)
{
    const int fd = open_nameless(folder);
    if (fd < 0) return NULL;
    void *at = MAP_FAILED;
    if (take_room(fd, 0, bytes))
        at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) {
        const int why = errno;
        close(fd);
        errno = why;
        return NULL;
    }
    *(spill_page *)at = (spill_page){fd, bytes};
    return (char *)at + PAGE;
}

void *spill_resize(const ctx *root, void *block, size_t size)
{
    if (size > SIZE_MAX / 4) {
        errno = ENOMEM;
        return NULL;
    }
    const size_t bytes = ((size + PAGE - 1) & ~(size_t)(PAGE - 1)) + PAGE;
    if (!block) return spill_new(root->spill, bytes);
    spill_page *page = page_of(block);
    const size_t before = page->bytes;
    if (bytes == before) return block;
    if (bytes > before && !take_room(page->fd, before, bytes)) return NULL;
    const int fd = page->fd;
    void *at = mremap(page, before, bytes, MREMAP_MAYMOVE);
    if (at == MAP_FAILED) return NULL;
    if (bytes < before && ftruncate(fd, (off_t)bytes) != 0)
        errno = 0; /* it only keeps room */
    page = at;
    page->bytes = bytes;
    return (char *)at + PAGE;
}

void spill_free(void *block)
{
    const spill_page page = *page_of(block);
    munmap(page_of(block), page.bytes);
    close(page.fd);
}

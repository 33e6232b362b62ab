/* spill.c: blocks in files (spill.h).
 *
 * A page of memory ahead of a block says where it lies: nothing else needs to know the
 * blocks that there are. Room on the disk is taken when a block is made or grows, so that a
 * full disk is an error of that call, and not the end of the process when a page is written
 * that has no place.
 *
 * A file that blocks share is cut into slots of the same size. Where holes aren't possible,
 * or files are limited, and for blocks that no slot holds, each has a file of its own.
 */
#define _GNU_SOURCE
#include "spill.h"
#include "sum.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif
#ifndef FALLOC_FL_COLLAPSE_RANGE /* Linux's own, which not every C library repeats */
#define FALLOC_FL_COLLAPSE_RANGE 0x08
#endif

enum {
    PART = 32,       /* of a cap: what is larger goes to files        */
    SMALL = 1 << 16, /* nothing below does                            */
    USUAL = 1 << 26, /* without a cap                                 */
    SLOTS = 32,
    DIRECT = 1 << 18, /* from so many bytes on past the page cache  */
    ROOMS = 4         /* of whole pages, for that, which are kept    */
};
#define SLOT (UINT64_C(1) << 37)

typedef struct spill_file {
    int fd;
    int direct;                  /* the same past the page cache; -1: none  */
    _Atomic(char *) room[ROOMS]; /* that no thread has                      */
    bool shared;                 /* by blocks of the machine, which makes more there */
    _Atomic uint32_t used;
    struct spill_head *head[SLOTS]; /* of used slots */
} spill_file;

/* In the page ahead of a block. */
typedef struct spill_head {
    spill_file *file;
    int slot;
    size_t bytes; /* of the block, whole pages */
    /* pieces that were put there from byte `from` on: what they add to the sum, and all
     * their bytes; what is before isn't always put, and looked at last */
    _Atomic uint64_t sum, put;
    size_t from;
} spill_head;

uint64_t spill_least(uint64_t max_memory)
{
    if (!max_memory) return USUAL;
    return max_memory / PART > SMALL ? max_memory / PART : SMALL;
}

static size_t whole_pages(size_t size)
{
    return (size + SPILL_PAGE - 1) & ~(size_t)(SPILL_PAGE - 1);
}

static char *block_of(spill_head *h)
{
    return (char *)h + SPILL_PAGE;
}

static spill_head *head_of(void *block)
{
    return (spill_head *)(void *)((char *)block - SPILL_PAGE);
}

static uint64_t offset_of(int slot)
{
    return SPILL_PAGE + (uint64_t)slot * SLOT;
}

/* ---- files ------------------------------------------------------------------------ */

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

static int open_direct(int fd)
{
    char path[64];
    const int why = errno;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const int direct = open(path, O_RDWR | O_DIRECT | O_CLOEXEC);
    errno = why;
    return direct;
}

static spill_file *file_new(const char *folder)
{
    spill_file *f = calloc(1, sizeof *f);
    if (!f) return NULL;
    if ((f->fd = open_nameless(folder)) >= 0) {
        f->direct = open_direct(f->fd);
        return f;
    }
    const int why = errno;
    free(f);
    errno = why;
    return NULL;
}

static void file_end(spill_file *f)
{
    close(f->fd);
    if (f->direct >= 0) close(f->direct);
    for (int k = 0; k < ROOMS; k++)
        if (f->room[k]) munmap(f->room[k], SPILL_ROOM);
    free(f);
}

static bool punch(int fd, uint64_t from, uint64_t to)
{
    return fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from,
                     (off_t)(to - from)) == 0;
}

/* Whether files may be as large as their slots ask for, and have holes that can be taken
 * out. A limit on the size of files ends a process that goes beyond it. */
static bool can_share(const spill_file *f)
{
    struct rlimit most;
    return sizeof(off_t) >= 8 && getrlimit(RLIMIT_FSIZE, &most) == 0 &&
           (most.rlim_cur == RLIM_INFINITY || most.rlim_cur / SLOT > SLOTS) &&
           posix_fallocate(f->fd, 0, 2 * SPILL_PAGE) == 0 && punch(f->fd, 0, SPILL_PAGE) &&
           fallocate(f->fd, FALLOC_FL_COLLAPSE_RANGE, 0, SPILL_PAGE) == 0 &&
           ftruncate(f->fd, 0) == 0;
}

/* The file that blocks share, made when it is first asked for; NULL: there is none. */
static spill_file *shared_file(ctx *root)
{
    spill_file *f = atomic_load(&root->spilled), *none = NULL;
    if (f || !(f = file_new(root->spill))) return f;
    if (!(f->shared = can_share(f))) {
        file_end(f);
        return NULL;
    }
    if (atomic_compare_exchange_strong(&root->spilled, &none, f)) return f;
    file_end(f); /* another thread was faster */
    return none;
}

static int slot_claim(spill_file *f)
{
    uint32_t used = atomic_load(&f->used);
    while (used != UINT32_MAX) {
        const int slot = __builtin_ctz(~used);
        if (atomic_compare_exchange_weak(&f->used, &used, used | 1U << slot)) return slot;
    }
    return -1;
}

/* The last block of a file that isn't shared ends it. */
static void slot_leave(spill_file *f, int slot)
{
    const uint32_t bit = 1U << slot;
    f->head[slot] = NULL;
    if (atomic_fetch_and(&f->used, ~bit) == bit && !f->shared) file_end(f);
}

/* Gives room on the disk back; errno stays. */
static void leave_room(const spill_file *f, int slot, size_t from, size_t to)
{
    const int why = errno;
    const uint64_t at = offset_of(slot);
    (void)punch(f->fd, at + from, at + to); /* else the room is kept, no more */
    errno = why;
}

/* Room on the disk for bytes [from, to) of a block. Of a full disk, what was had goes
 * back. */
static bool take_room(const spill_file *f, int slot, size_t from, size_t to)
{
    const off_t at = (off_t)(offset_of(slot) + from);
    int why;
    do
        why = posix_fallocate(f->fd, at, (off_t)(to - from));
    while (why == EINTR);
    errno = why;
    if (why) leave_room(f, slot, from, to);
    return why == 0;
}

/* ---- blocks ----------------------------------------------------------------------- */

/* Memory of a head and a block, which is mapped over. */
static spill_head *head_new(size_t bytes)
{
    void *at = mmap(NULL, SPILL_PAGE + bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static void head_end(spill_head *h, size_t bytes)
{
    const int why = errno;
    munmap(h, SPILL_PAGE + bytes);
    errno = why;
}

/* A slot's first block; the slot is left where there is no room. */
static void *block_in(spill_file *f, int slot, size_t bytes)
{
    spill_head *h = NULL;
    const bool room = take_room(f, slot, 0, bytes);
    if (room && (h = head_new(bytes)) &&
        mmap(block_of(h), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, f->fd,
             (off_t)offset_of(slot)) != MAP_FAILED) {
        *h = (spill_head){.file = f, .slot = slot, .bytes = bytes, .from = SPILL_PAGE};
        f->head[slot] = h;
        return block_of(h);
    }
    const int why = errno;
    if (h) head_end(h, bytes);
    if (room) leave_room(f, slot, 0, bytes);
    slot_leave(f, slot);
    errno = why;
    return NULL;
}

/* Where sizes have 32 bits, all do. */
static bool fits_slot(uint64_t bytes)
{
    return bytes <= SLOT;
}

static void *block_new(ctx *root, size_t bytes)
{
    spill_file *f = fits_slot(bytes) ? shared_file(root) : NULL;
    const int slot = f ? slot_claim(f) : -1;
    if (slot >= 0) {
        void *block = block_in(f, slot, bytes);
        if (block || errno != EFBIG) return block;
    }
    if (!(f = file_new(root->spill))) return NULL;
    return block_in(f, slot_claim(f), bytes);
}

/* The block's memory in another size. Where it can't stay, all of it moves: to other
 * addresses, but not in the file. NULL: it is as it was. */
static spill_head *head_resize(spill_head *h, size_t bytes)
{
    if (mremap(block_of(h), h->bytes, bytes, 0) != MAP_FAILED) return h;
    spill_head *to = head_new(bytes);
    if (!to) return NULL;
    if (mremap(block_of(h), h->bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, block_of(to)) ==
        MAP_FAILED) {
        head_end(to, bytes);
        return NULL;
    }
    *to = *h;
    munmap(h, SPILL_PAGE);
    return to;
}

static void *block_resize(spill_head *h, size_t bytes)
{
    const size_t before = h->bytes;
    spill_file *const f = h->file;
    const int slot = h->slot;
    if (bytes > before && !take_room(f, slot, before, bytes)) return NULL;
    if (!(h = head_resize(h, bytes))) {
        if (bytes > before) leave_room(f, slot, before, bytes);
        return NULL;
    }
    if (bytes < before) leave_room(f, slot, bytes, before);
    h->bytes = bytes;
    h->file->head[h->slot] = h;
    return block_of(h);
}

void *spill_resize(ctx *root, void *block, size_t size)
{
    if (size > SIZE_MAX / 4) {
        errno = ENOMEM;
        return NULL;
    }
    const size_t bytes = whole_pages(size);
    if (!block) return block_new(root, bytes);
    spill_head *h = head_of(block);
    if (bytes == h->bytes) return block;
    if (fits_slot(bytes) || !h->file->shared) return block_resize(h, bytes);
    void *moved = block_new(root, bytes);
    if (!moved) return NULL;
    memcpy(moved, block, h->bytes);
    spill_unsum(moved, h->bytes);
    spill_free(block);
    return moved;
}

void spill_free(void *block)
{
    spill_head *h = head_of(block);
    const spill_head was = *h;
    const uint64_t at = offset_of(was.slot);
    munmap(h, SPILL_PAGE + was.bytes);
    if (was.file->shared) punch(was.file->fd, at, at + was.bytes);
    slot_leave(was.file, was.slot);
}

/* How many of n bytes were written. */
static size_t write_at(int fd, const char *p, size_t n, off_t at)
{
    size_t sum = 0;
    while (sum < n) {
        const ssize_t done = pwrite(fd, p + sum, n - sum, at + (off_t)sum);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) break;
        sum += (size_t)done;
    }
    return sum;
}

char *spill_room(void *block)
{
    spill_file *const f = head_of(block)->file;
    char *room = NULL;
    if (f->direct < 0) return NULL;
    for (int k = 0; !room && k < ROOMS; k++)
        room = atomic_exchange(&f->room[k], NULL);
    if (room) return room;
    room =
        mmap(NULL, SPILL_ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return room == MAP_FAILED ? NULL : room;
}

void spill_room_leave(void *block, char *room)
{
    spill_file *const f = head_of(block)->file;
    for (int k = 0; room && k < ROOMS; k++)
        room = atomic_exchange(&f->room[k], room);
    if (room) munmap(room, SPILL_ROOM);
}

bool spill_read(void *block, size_t at, char *room, size_t n)
{
    const spill_head *h = head_of(block);
    ssize_t done;
    do
        done =
            pread(h->file->direct, room, whole_pages(n), (off_t)(offset_of(h->slot) + at));
    while (done < 0 && errno == EINTR);
    return done >= (ssize_t)n;
}

/* Whole pages, by way of memory that lies as the disk wants it, if it doesn't. */
static size_t write_direct(void *block, const char *p, size_t n, off_t at)
{
    const spill_file *f = head_of(block)->file;
    size_t sum = 0;
    if ((uintptr_t)p % SPILL_PAGE == 0 && f->direct >= 0)
        return write_at(f->direct, p, n, at);
    char *const room = n ? spill_room(block) : NULL;
    while (room && sum < n) {
        const size_t some = n - sum < SPILL_ROOM ? n - sum : SPILL_ROOM;
        memcpy(room, p + sum, some);
        const size_t done = write_at(f->direct, room, some, at + (off_t)sum);
        sum += done;
        if (done < some) break;
    }
    spill_room_leave(block, room);
    return sum;
}

/* What a direct write leaves is written as usual. */
bool spill_write(void *block, void *to, const void *from, size_t n)
{
    const spill_head *h = head_of(block);
    const off_t at = (off_t)offset_of(h->slot) + ((char *)to - (char *)block);
    const size_t head = (size_t)(-at & (SPILL_PAGE - 1));
    const char *const p = from;
    size_t done = 0;
    if (n >= DIRECT) {
        done = write_at(h->file->fd, p, head, at);
        if (done < head) return false;
        done += write_direct(block, p + done, (n - head) & ~(size_t)(SPILL_PAGE - 1),
                             at + (off_t)done);
    }
    return done + write_at(h->file->fd, p + done, n - done, at + (off_t)done) == n;
}

void spill_sum(void *block, const void *to, const void *from, size_t n)
{
    spill_head *h = head_of(block);
    const size_t at = (size_t)((const char *)to - (const char *)block);
    const size_t skip = at < h->from ? h->from - at : 0;
    if (skip >= n) return;
    const uint64_t sum = sum_piece((const char *)from + skip, n - skip, at + skip);
    atomic_fetch_add_explicit(&h->sum, sum, memory_order_relaxed);
    atomic_fetch_add_explicit(&h->put, n - skip, memory_order_relaxed);
}

void spill_unsum(void *block, size_t there)
{
    spill_head *h = head_of(block);
    h->sum = h->put = 0;
    h->from = there > SPILL_PAGE ? there : SPILL_PAGE;
}

bool spill_summed(void *block, size_t n, uint64_t *sum)
{
    const spill_head *h = head_of(block);
    const size_t first = n < h->from ? n : h->from;
    if (h->put != n - first) return false;
    *sum = sum_whole(h->sum + sum_piece(block, first, 0), n);
    return true;
}

void spill_end(ctx *root)
{
    spill_file *f = atomic_exchange(&root->spilled, NULL);
    if (f) file_end(f);
}

/* ---- from blocks to a file -------------------------------------------------------- */

int spill_shared(const ctx *root, const spill_part *part, int n)
{
    const spill_file *f = atomic_load(&root->spilled);
    uint64_t all = 0, parts = 0;
    for (int s = 0; f && s < SLOTS; s++)
        all += f->head[s] ? f->head[s]->bytes : 0;
    for (int k = 0; k < n; k++) {
        const spill_head *h = head_of(part[k].block);
        if (h->file != f) return -1;
        parts += h->bytes;
    }
    return f && n && all - parts <= parts / 4 ? f->fd : -1;
}

/* The block has the same addresses, and lies in another file of the folder. */
static bool block_leave(const ctx *root, spill_head *h)
{
    spill_file *f = file_new(root->spill);
    void *copy = f ? block_in(f, slot_claim(f), h->bytes) : NULL;
    if (!copy) return false;
    memcpy(copy, block_of(h), h->bytes);
    spill_head *to = head_of(copy);
    if (mremap(copy, h->bytes, h->bytes, MREMAP_MAYMOVE | MREMAP_FIXED, block_of(h)) ==
        MAP_FAILED) {
        spill_free(copy);
        return false;
    }
    h->file->used &= ~(1U << h->slot);
    h->file->head[h->slot] = NULL;
    *h = *to;
    f->head[h->slot] = h;
    munmap(to, SPILL_PAGE);
    return true;
}

static bool others_leave(const ctx *root, spill_file *f, const spill_part *part, int n)
{
    for (int s = 0; s < SLOTS; s++) {
        bool other = f->head[s];
        for (int k = 0; other && k < n; k++)
            other = head_of(part[k].block) != f->head[s];
        if (other && !block_leave(root, f->head[s])) return false;
    }
    return true;
}

/* What lies between the parts is taken out, the last of it first; `order`: parts as they
 * lie in the file. */
static bool close_up(const spill_file *f, spill_part *part, int n, const int *order)
{
    const spill_part *last = &part[order[n - 1]];
    if (ftruncate(f->fd, (off_t)(last->offset + last->used)) != 0) return false;
    for (int k = n - 1; k >= 0; k--) {
        const uint64_t to = part[order[k]].offset;
        const spill_part *before = k ? &part[order[k - 1]] : NULL;
        const uint64_t from =
            before ? before->offset + whole_pages(before->used) : SPILL_PAGE;
        if (to == from) continue;
        if (fallocate(f->fd, FALLOC_FL_COLLAPSE_RANGE, (off_t)from, (off_t)(to - from)))
            return false;
        for (int m = k; m < n; m++)
            part[order[m]].offset -= to - from;
    }
    return true;
}

/* Limits on what a process may write to in memory hold for views, not for blocks. */
static bool view_part(const spill_part *p)
{
    const spill_head *h = head_of(p->block);
    const size_t used = whole_pages(p->used);
    const int flags = MAP_PRIVATE | MAP_FIXED, both = PROT_READ | PROT_WRITE;
    if (mmap(p->block, used, both, flags, h->file->fd, (off_t)p->offset) == MAP_FAILED)
        return false;
    return used == h->bytes || mmap((char *)p->block + used, h->bytes - used, both,
                                    flags | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
}

/* Blocks again; one that can't be is the same to those who don't write to it. */
static void unview_parts(const spill_part *part, int n)
{
    const int why = errno;
    for (int k = 0; k < n; k++) {
        const spill_head *h = head_of(part[k].block);
        (void)mmap(part[k].block, h->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                   h->file->fd, (off_t)offset_of(h->slot));
    }
    errno = why;
}

/* By offsets; there are few. */
static void sort_parts(const spill_part *part, int n, int *order)
{
    for (int k = 0; k < n; k++) {
        int at = k;
        for (; at > 0 && part[order[at - 1]].offset > part[k].offset; at--)
            order[at] = order[at - 1];
        order[at] = k;
    }
}

bool spill_take(ctx *root, spill_part *part, int n, bool *viewed)
{
    spill_file *f = atomic_load(&root->spilled);
    int order[SLOTS];
    *viewed = false;
    for (int k = 0; k < n; k++) {
        char *const block = part[k].block;
        const size_t used = part[k].used;
        part[k].offset = offset_of(head_of(block)->slot);
        memset(block + used, 0, whole_pages(used) - used);
        if (view_part(&part[k])) continue; /* before anything moves in the file */
        unview_parts(part, k + 1);
        return false;
    }
    *viewed = true;
    atomic_store(&root->spilled, NULL);
    f->shared = false;
    sort_parts(part, n, order);
    bool done = others_leave(root, f, part, n) && close_up(f, part, n, order);
    int why = errno;
    for (int k = 0; k < n; k++) {
        if (view_part(&part[k])) continue;
        why = errno;
        done = false;
    }
    errno = why;
    return done;
}

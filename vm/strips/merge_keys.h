/* merge_keys.h: ascending sequences of keys, one an operand, merged into one.
 *
 * A key is whatever orders the elements; what it is made of is the caller's
 * business. Sequences end with KEY_END, which is above all keys.
 */
#ifndef STC_VM_MERGE_KEYS_H
#define STC_VM_MERGE_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#define KEY_END INT64_MAX

typedef struct key_list {
    int64_t *key; /* n of them, each once; then KEY_END          */
    int n;
    bool more;               /* there are keys behind these that weren't written   */
    int64_t base;            /* the k-th one's position is base + k, or:           */
    const int64_t *at, *end; /* its position, if not NULL; one past its duplicates */
    int64_t *to, *to_end;    /* out: the same of each element; NONE where it isn't */
} key_list;

/* How many of `room` keys a list of n gets, of `all` that the lists have: together the
 * lists get no more, and each one at least. */
static inline int64_t keys_share(int64_t room, int lists, int64_t n, int64_t all)
{
    return 1 + (int64_t)((double)(room - lists) * (double)n / (double)all);
}

/* Leaves out the keys that others may come before which weren't written. */
void keys_cut(key_list *x, int lists);

/* The position behind the list's keys that are left; `reached` if all are. */
static inline int64_t keys_reach(const key_list *x, int written, int64_t reached)
{
    if (x->n == written) return reached;
    return x->at ? x->at[x->n] : x->base + x->n;
}

/* Bit m of the table says whether a key produces that the lists in m have. Writes
 * what is produced to key, which like the lists' `to` has room for all keys of all
 * lists, and gives its number. */
int keys_merge(const key_list *x, int lists, uint64_t table, int64_t *key);

/* merge_runs.c: whether keys seem to follow each other, each one more than the last,
 * in all lists; the same for such. */
bool keys_run(const key_list *x, int lists);
int keys_merge_runs(const key_list *x, int lists, uint64_t table, int64_t *key);

#endif

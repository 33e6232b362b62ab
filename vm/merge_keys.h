/* merge_keys.h: ascending sequences of keys, one an operand, merged into one.
 *
 * A key is whatever orders the elements; what it is made of is the caller's
 * business. Sequences end with KEY_END, which is above all keys.
 */
#ifndef STC_VM_MERGE_KEYS_H
#define STC_VM_MERGE_KEYS_H

#include <stdint.h>

#define KEY_END INT64_MAX

typedef struct key_list {
    const int64_t *key; /* n of them, each once; then KEY_END     */
    int n;
    int64_t base; /* the k-th one's position is base + k          */
    int64_t *to;  /* out: its position in each element, or NONE   */
} key_list;

/* Bit m of the table says whether a key produces that the lists in m have. Writes
 * what is produced to key, which like the lists' `to` has room for all keys of all
 * lists, and gives its number. */
int keys_merge(const key_list *x, int lists, uint64_t table, int64_t *key);

#endif

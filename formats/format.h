/* format.h: a format is a map from a tensor's modes to its levels.
 *
 *     (i,j) -> (i : dense, j : compressed)                        csr
 *     (i,j) -> (i/4 : dense, j/4 : compressed, i%4 : dense, j%4 : dense)
 *     (i,j) -> (j-i : compressed, i : range, j : offset)          dia
 *     (i) -> (i/8 : compressed, i/2%4 : compressed, i%2 : dense)  blocks in blocks
 *     (i,j) -> (i : dense, j : hashed(16))                        16 slots a row
 *
 * This is pure data without pointers into text; src/lang parses the notation,
 * format_print writes it, .stb files store it. Modes are numbered as in the
 * map's left side, that is, as in a logical access A(i,j).
 */
#ifndef STC_FORMATS_FORMAT_H
#define STC_FORMATS_FORMAT_H

#include "level.h"

typedef enum map_op {
    MAP_MODE,  /* mode                                                     */
    MAP_PART,  /* floor(mode / k) mod n; n == 0: floor(mode / k)           */
    MAP_DIFF,  /* mode - mode2                                             */
    MAP_COUNT, /* #mode: ordinal of an entry among those of its mode (ELL) */
    MAP_FLAT,  /* flat(first mode, …): row-major over `modes` in order     */
} map_op;

typedef struct level_map {
    uint8_t op, mode, mode2, modes; /* modes: how many from `mode` on (FLAT) */
    int64_t k, n;                   /* PART */
} level_map;

enum {
    FMT_NONUNIQUE = 1,
    FMT_UNORDERED = 2,
    FMT_INDEX32 = 4,
    FMT_INDEX64 = 8,
    FMT_INTERLEAVED = 16,
};

static inline level_map map_part(int mode, int64_t k, int64_t n)
{
    return (level_map){.op = MAP_PART, .mode = (uint8_t)mode, .k = k, .n = n};
}

typedef struct level_spec {
    const level_kind *kind;
    uint8_t flags; /* FMT_ bits */
    level_map map;
    int64_t number; /* what its kind takes; 0: it takes none */
} level_spec;

/* A map as files have it: a number for its op, and one of 8 bytes for its k and n; zeros in
 * what the op doesn't use. */
typedef struct coded_map {
    uint8_t op, mode, mode2, modes;
    int64_t k;
} coded_map;
coded_map map_code(const level_map *m);
/* False if it isn't written as map_code does. */
bool map_decode(const coded_map *from, level_map *m);

typedef struct format {
    int order, levels;
    level_spec level[STC_MAX_ORDER];
} format;

/* Every level's coordinate is one mode, each mode once: a permutation. Such a
 * format is iterated directly; mode_of[l] is level l's mode. */
bool format_is_plain(const format *f);
/* Whether every coordinate is stored, whatever the data. */
bool format_stores_all(const format *f);
/* … it is plain, and results are written at any coordinate in any order. */
bool format_inserts(const format *f);
/* Levels are modes, or modes flattened, and the position of any coordinates is found
 * without a look at others, and is that of no others; those that aren't stored get one
 * where the tensor is made. */
bool format_finds_places(const format *f);
/* Which mode of a tensor is mode k of a workspace whose entries go into it: that of level
 * k, or k where levels are no modes. */
int format_entry_mode(const format *f, int k);
/* It is plain, and every level dense: values are all elements, in the order of the levels.
 */
bool format_is_dense(const format *f);
bool map_equal(const level_map *a, const level_map *b);
bool format_equal(const format *a, const format *b);
/* Whether b is a with its modes numbered otherwise: as csc of a matrix is csr of its
 * transpose. mode[m] is what a's mode m is in b. */
bool format_renumbers(const format *a, const format *b, int *mode);
/* f with its mode m as mode[m]; flat's modes stay beside each other, or it can't be. */
bool format_renumber(const format *f, const int *mode, format *out);
/* Whether what equals the fill isn't read where it is stored: levels store all places of a
 * block or a diagonal, and it can't be told from its padding. */
bool format_drops_fill(const format *f);
/* Whether what is stored was put there, each element by itself: no place is there for the
 * sake of others in its row or block. */
bool format_stores_entries(const format *f);
/* The properties level l has under this format. */
uint32_t format_props(const format *f, int l);
/* Whether what is below level l is a fiber for each of the positions that share a
 * coordinate of it: a level that can't chain them. Such ones are gone through by
 * tensor_walk alone. */
bool format_apart(const format *f, int l);
/* Flags without those that take back what the kind's data keeps all the same: it is
 * promised still. A dense level lists each coordinate once and in order, whatever it may
 * do. */
uint8_t level_flags(const level_kind *k, uint8_t flags);
/* Refuses what can't be: a mode that no level determines, flags that a kind
 * doesn't take, a branchless level at the root. `why` gets the reason. */
bool format_valid(const format *f, char *why, size_t size);
/* A plain format of `order` levels of one kind except as built by hand. */
void format_init(format *f, int order);
void format_set(format *f, int l, const level_kind *kind, int mode, uint8_t flags);
void format_all(format *f, int order, const level_kind *kind); /* identity order */
/* The built-in name if it has one ("csr"), else the whole map. */
void format_print(const format *f, textbuf *out);
void format_print_map(const format *f, textbuf *out);
const char *format_name_at(int k); /* of the built-in ones; NULL past the end */
/* The built-in of that name for that order (-1: the name's own order); args
 * are the parameters of bcsr(r,c). False if there is none or they don't fit. */
bool format_builtin(const char *name, size_t len, int order, const int64_t *args, int nargs,
                    format *out);
/* TACO's short strings, "ds", "dss" with a mode order or NULL. */
bool format_short(const char *s, size_t len, const int *modes, format *out);

#endif

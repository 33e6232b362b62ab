/* binsparse.c: reads Binsparse (GraphBLAS/binsparse-specification, version 0.1): a
 * descriptor in JSON, and arrays of NumPy's with the names that it gives them.
 *
 * The specification leaves open how arrays of .npy are kept: here they are the members of
 * an archive, or the files of a folder, beside `binsparse.json`, as Finch has them.
 * Dense levels are ours of that name; a sparse one is compressed, and one of several
 * dimensions a compressed one and singletons, as in coo. Arrays stay as they are; only
 * where a triangle stands for a matrix are they listed as entries, and mirrored.
 */
#include "binsparse.h"
#include "json.h"

const binsparse_name binsparse_names[] = {
    {"DVEC", "d", false},  {"DMATR", "dd", false}, {"DMATC", "dd", true},
    {"CVEC", "1", false},  {"CSR", "d1", false},   {"CSC", "d1", true},
    {"DCSR", "11", false}, {"DCSC", "11", true},   {"COOR", "2", false},
    {"COOC", "2", true},   {"DMAT", "dd", false},  {"COO", "2", false},
    {NULL, NULL, false},
};

static const struct {
    const char *name;
    stc_type type;
} type_words[] = {
    {"uint8", STC_U8},
    {"uint16", STC_U16},
    {"uint32", STC_U32},
    {"uint64", STC_U64},
    {"int8", STC_I8},
    {"int16", STC_I16},
    {"int32", STC_I32},
    {"int64", STC_I64},
    {"float32", STC_F32},
    {"float64", STC_F64},
    {"bint8", STC_BOOL},
    {"complex[float32]", STC_C64},
    {"complex[float64]", STC_C128},
};
enum { TYPE_WORDS = sizeof type_words / sizeof *type_words };

const char *binsparse_type(stc_type t)
{
    int k = 0;
    while (type_words[k].type != t)
        k++;
    return type_words[k].name;
}

typedef struct bsp {
    array_store *a;
    io_result *out;
    json head;
    char levels[STC_MAX_ORDER + 1]; /* as in binsparse_name */
    int mode[STC_MAX_ORDER];
    int order;
    int64_t shape[STC_MAX_ORDER];
    tensor *t;
} bsp;

static stc_status bad(const bsp *r, const char *what)
{
    return fail_file(r->a->cx, STC_ERR_DATA, r->a->path, 0, "%s: %s", BINSPARSE_JSON, what);
}

/* ---- the descriptor ---------------------------------------------------------------- */

static stc_status read_shape(bsp *r)
{
    json shape = json_member(r->head, "shape");
    if (!shape || *shape != '[') return bad(r, "expected an array \"shape\"");
    for (json v = json_first(shape); v; v = json_next(v)) {
        if (r->order == STC_MAX_ORDER) return bad(r, "the largest order is 16");
        if (!json_integer(v, &r->shape[r->order++]))
            return bad(r, "expected whole numbers in \"shape\"");
    }
    for (int k = 0; k < r->order; k++)
        r->mode[k] = k;
    return STC_OK;
}

static stc_status read_transpose(bsp *r, json custom)
{
    json list = json_member(custom, "transpose");
    uint32_t seen = 0;
    int n = 0;
    if (!list) return STC_OK;
    for (json v = json_first(list); v; v = json_next(v), n++) {
        int64_t mode;
        if (n == r->order || !json_integer(v, &mode) || mode >= r->order ||
            seen >> mode & 1)
            return bad(r, "\"transpose\" is no permutation of the dimensions");
        seen |= 1u << mode;
        r->mode[n] = (int)mode;
    }
    return n == r->order ? STC_OK
                         : bad(r, "\"transpose\" is no permutation of the dimensions");
}

/* Levels in levels, down to the elements. */
static stc_status read_custom(bsp *r, json custom)
{
    json here = json_member(custom, "level");
    int n = 0, dims = 0;
    while (here && !json_is_text(json_member(here, "level_desc"), "element")) {
        int64_t rank = 0;
        const bool dense = json_is_text(json_member(here, "level_desc"), "dense");
        if (!dense && !json_is_text(json_member(here, "level_desc"), "sparse"))
            return bad(r, "expected a \"level_desc\" of element, dense or sparse");
        if (!json_integer(json_member(here, "rank"), &rank) || rank < 1 ||
            rank > r->order - dims)
            return bad(r, "expected a \"rank\" from 1 to the dimensions that are left");
        dims += (int)rank;
        for (int k = 0; k < (dense ? rank : 1); k++)
            r->levels[n++] = dense ? 'd' : (char)('0' + rank);
        here = json_member(here, "level");
    }
    if (!here) return bad(r, "expected a \"level\" in each one but that of the elements");
    if (dims != r->order) return bad(r, "the levels are fewer than the dimensions");
    return read_transpose(r, custom);
}

static stc_status read_format(bsp *r)
{
    json name = json_member(r->head, "format"), custom = json_member(r->head, "custom");
    if (!custom) custom = json_member(name, "custom");
    if (custom) return read_custom(r, custom);
    for (const binsparse_name *k = binsparse_names; k->name; k++) {
        if (!json_is_text(name, k->name)) continue;
        memcpy(r->levels, k->levels, strlen(k->levels) + 1);
        const int order = *k->levels == '2' ? 2 : (int)strlen(k->levels);
        if (r->order != order) return bad(r, "\"shape\" isn't one of \"format\"");
        if (k->turned) r->mode[0] = 1, r->mode[1] = 0;
        return STC_OK;
    }
    return bad(r, "expected a \"format\" that there is, or \"custom\"");
}

/* Ours for the levels. */
static void make_format(const bsp *r, format *f)
{
    const level_kind *dense = level_kind_at(LEVEL_dense),
                     *compressed = level_kind_at(LEVEL_compressed),
                     *singleton = level_kind_at(LEVEL_singleton);
    format_init(f, r->order);
    for (int k = 0, l = 0; r->levels[k]; k++) {
        const int rank = r->levels[k] == 'd' ? 1 : r->levels[k] - '0';
        for (int j = 0; j < rank; j++, l++)
            format_set(f, l,
                       r->levels[k] == 'd' ? dense
                       : j                 ? singleton
                                           : compressed,
                       r->mode[l], j + 1 < rank ? FMT_NONUNIQUE : 0);
    }
}

/* ---- arrays --------------------------------------------------------------------- */

/* Whole numbers of any type, in 32 bits where they have no more. */
static stc_status take_indices(const io_result *from, index_array *a)
{
    ctx *cx = from->cx;
    const bool wide = type_size(from->type) == 8;
    stc_status s = index_ready(cx, a, 0, wide ? 8 : 4, from->count);
    for (int64_t i = 0; !s && i < from->count; i++) {
        const int64_t v = integer_at(from, i);
        if (!wide && v > INT32_MAX && (s = index_widen(cx, a))) break;
        index_set(a, i, v);
        if (work_due(cx, i)) s = cx->diag.status;
    }
    return s;
}

static stc_status read_indices(bsp *r, const char *what, int number, index_array *a)
{
    char name[32];
    io_result from;
    snprintf(name, sizeof name, "%s_%d", what, number);
    stc_status s = store_integers(r->a, name, 0, &from);
    if (s) return s;
    s = take_indices(&from, a);
    io_free(&from);
    return s;
}

/* A sparse level's arrays: l is the first of ours. */
static stc_status read_sparse(bsp *r, int l, int rank)
{
    index_array *pos = &r->t->level[l].a[STC_POS];
    stc_status s = STC_OK;
    for (int j = 0; !s && j < rank; j++)
        s = read_indices(r, "indices", l + j, &r->t->level[l + j].a[STC_CRD]);
    if (s || l) return s ? s : read_indices(r, "pointers_to", l, pos);
    const int64_t n = r->t->level[0].a[STC_CRD].len;
    if ((s = index_ready(r->a->cx, pos, n, 0, 2))) return s;
    index_set(pos, 0, 0);
    index_set(pos, 1, n);
    return STC_OK;
}

/* The type that a word of data_types stands for; iso: one element for all. */
static bool read_type(json word, stc_type *type, bool *iso)
{
    char text[64];
    if (!json_text(word, text, sizeof text)) return false;
    char *p = text;
    size_t n = strlen(p);
    *iso = n > 5 && !strncmp(p, "iso[", 4) && p[n - 1] == ']';
    if (*iso) {
        p[n - 1] = 0;
        p += 4;
    }
    for (int k = 0; k < TYPE_WORDS; k++)
        if (!strcmp(p, type_words[k].name)) {
            *type = type_words[k].type;
            return true;
        }
    return false;
}

/* The elements of an array as those of the type that data_types gives it: pairs become
 * complex, bytes become bool. */
static stc_status read_values(bsp *r, const char *name, io_result *v, bool *iso)
{
    json types = json_member(r->head, "data_types");
    stc_type type;
    *iso = false;
    if (!read_type(json_member(types, name), &type, iso))
        return bad(r, "expected a type for the values in \"data_types\"");
    stc_status s = store_array(r->a, name, v);
    if (s) return s;
    if (v->order != 1) return bad(r, "expected values in an array of order 1");
    const stc_type had = v->type;
    if (type_is_complex(type) && type_size(type) == 2 * type_size(had) &&
        type_is_float(had) && v->count % 2 == 0) {
        v->count /= 2;
        v->type = type;
    }
    if (type == STC_BOOL && had == STC_U8) {
        uint8_t *b = v->dense;
        for (int64_t i = 0; i < v->count; i++)
            b[i] = b[i] != 0;
        v->type = type;
    }
    return v->type == type
               ? STC_OK
               : bad(r, "the values aren't of the type that \"data_types\" has");
}

/* As many positions as there are below all levels. */
static bool count_positions(const bsp *r, int64_t *n)
{
    *n = 1;
    for (int l = 0; l < r->t->fmt.levels; l++) {
        const level *lv = &r->t->level[l];
        if (lv->kind->arrays >> STC_CRD & 1)
            *n = lv->a[STC_CRD].len;
        else if (!size_mul(*n, lv->extent, n))
            return false;
    }
    return true;
}

/* One value for all: no more of them than the file could hold if it were compressed. */
static stc_status spread(bsp *r, io_result *v)
{
    const size_t size = type_size(v->type);
    int64_t n, bytes;
    if (v->count < 1) return bad(r, "expected one value");
    if (!count_positions(r, &n) || !size_mul(n, (int64_t)size, &bytes) ||
        bytes > inflate_most(r->a->folder ? 0 : r->a->zip.len))
        return bad(r, "one value stands for more than the file's size allows");
    char *all = n ? mem_array(r->a->cx, n, size) : mem_alloc(r->a->cx, 1);
    if (!all) return r->a->cx->diag.status;
    for (int64_t i = 0; i < n; i++)
        memcpy(all + (size_t)i * size, v->dense, size);
    mem_free(r->a->cx, v->dense, (size_t)v->count * size);
    v->dense = all;
    v->count = n;
    return STC_OK;
}

/* ---- the tensor ----------------------------------------------------------------- */

static stc_status read_fill(bsp *r, stc_type type, value *fill)
{
    io_result v = {0};
    bool iso;
    *fill = class_convert(type_class(type), CLASS_I64, (value){0});
    if (!json_true(json_member(r->head, "fill"))) return STC_OK;
    stc_status s = read_values(r, "fill_value", &v, &iso);
    if (!s && (v.count != 1 || v.type != type))
        s = bad(r, "expected one \"fill_value\" of the type of the values");
    if (!s) *fill = type_load(type, v.dense, 0);
    io_free(&v);
    return s;
}

static stc_status make_tensor(bsp *r, stc_type type)
{
    const int64_t none[STC_MAX_ORDER] = {0};
    format f;
    value fill;
    make_format(r, &f);
    stc_status s = read_fill(r, type, &fill);
    if (!s) s = tensor_new(r->a->cx, &f, type, none, fill, &r->t);
    if (s) return s;
    mem_free(r->a->cx, r->t->vals, (size_t)r->t->vals_cap * type_size(type));
    r->t->vals = NULL;
    r->t->nvals = r->t->vals_cap = 0;
    r->t->generation++;
    return tensor_set_shape(r->t, r->shape);
}

static stc_status read_arrays(bsp *r)
{
    io_result v = {0};
    bool iso;
    stc_status s = read_values(r, "values", &v, &iso);
    if (!s) s = make_tensor(r, v.type);
    for (int k = 0, l = 0; !s && r->levels[k]; k++) {
        const int rank = r->levels[k] == 'd' ? 1 : r->levels[k] - '0';
        if (r->levels[k] != 'd') s = read_sparse(r, l, rank);
        l += rank;
    }
    if (!s && iso) s = spread(r, &v);
    if (!s && v.count) { /* the block is the tensor's from here on */
        r->t->vals = v.dense;
        r->t->nvals = r->t->vals_cap = v.count;
        v.dense = NULL;
    }
    io_free(&v);
    return s ? s : tensor_check(r->t);
}

/* ---- triangles ------------------------------------------------------------------ */

typedef enum mirror { MIRROR_NONE, MIRROR_SAME, MIRROR_MINUS, MIRROR_CONJ } mirror;

static bool read_structure(json word, mirror *how, bool *lower)
{
    static const char *const names[] = {"symmetric", "skew_symmetric", "hermitian"};
    char text[64];
    *how = MIRROR_NONE;
    if (!word || *word == 'n') return true; /* null */
    if (!json_text(word, text, sizeof text)) return false;
    for (int k = 0; k < 3; k++) {
        const size_t n = strlen(names[k]);
        if (strncmp(text, names[k], n)) continue;
        *lower = !strcmp(text + n, "_lower");
        if (!*lower && strcmp(text + n, "_upper")) continue;
        *how = (mirror)(k + 1);
        return true;
    }
    return false;
}

static value mirrored(stc_type t, value v, mirror how)
{
    switch (type_class(t)) {
    case CLASS_C64:
        v.c64 = how == MIRROR_CONJ ? conjf(v.c64) : how == MIRROR_MINUS ? -v.c64 : v.c64;
        break;
    case CLASS_C128:
        v.c128 = how == MIRROR_CONJ ? conj(v.c128) : how == MIRROR_MINUS ? -v.c128 : v.c128;
        break;
    case CLASS_F32:
        v.f32 = how == MIRROR_MINUS ? -v.f32 : v.f32;
        break;
    case CLASS_F64:
        v.f64 = how == MIRROR_MINUS ? -v.f64 : v.f64;
        break;
    default:
        v.u64 = how == MIRROR_MINUS ? 0 - v.u64 : v.u64;
        break;
    }
    return v;
}

/* Lists what is stored and its mirror image instead of the levels. */
static stc_status unfold(bsp *r, mirror how, bool lower)
{
    io_result *out = r->out;
    entries *e = &out->e;
    const tensor *t = r->t;
    if (r->order != 2 || r->shape[0] != r->shape[1] || !tensor_fill_is_zero(t))
        return bad(r, "only a square matrix of fill 0 can have a \"structure\"");
    if (how == MIRROR_CONJ && !type_is_complex(t->type))
        return bad(r, "only complex matrices can be hermitian");
    entries_init(e, r->a->cx, 2, t->type);
    stc_status s = tensor_entries(t, e);
    const int64_t n = e->n;
    if (!s && n > 0) s = entries_reserve(e, 2 * n);
    for (int64_t k = 0; !s && k < n; k++) {
        const int64_t coords[] = {e->coord[1][k], e->coord[0][k]};
        if (lower ? coords[1] < coords[0] : coords[1] > coords[0])
            return bad(r, "an entry is on the other side than \"structure\" says");
        if (coords[0] != coords[1])
            s = entries_push(e, coords,
                             mirrored(t->type, type_load(t->type, e->vals, k), how));
        if (!s && work_due(r->a->cx, k)) s = r->a->cx->diag.status;
    }
    out->sparse = true;
    out->kind = IO_MATRIX;
    out->formatted = true;
    out->fmt = t->fmt;
    tensor_free(r->t);
    r->t = out->whole = NULL;
    return s;
}

static stc_status read_all(bsp *r)
{
    mirror how;
    bool lower = false;
    char version[16];
    json word = json_member(r->head, "version");
    if (!json_text(word, version, sizeof version) ||
        (strncmp(version, "0.", 2) && strncmp(version, "1.", 2)))
        return bad(r, "expected \"version\" 0.1");
    if (!read_structure(json_member(r->head, "structure"), &how, &lower))
        return bad(r, "a \"structure\" that there isn't");
    stc_status s = read_shape(r);
    if (!s) s = read_format(r);
    if (!s) s = read_arrays(r);
    r->out->whole = r->t; /* io_free has it from here on */
    if (s) return s;
    r->out->kind = IO_ARRAY;
    r->out->type = r->t->type;
    r->out->order = r->order;
    memcpy(r->out->shape, r->shape, sizeof r->shape);
    return how ? unfold(r, how, lower) : STC_OK;
}

stc_status binsparse_read(array_store *a, const file_bytes *descriptor, io_result *out)
{
    bsp r = {.a = a, .out = out};
    const char *at;
    json top = json_check(descriptor->data, (size_t)descriptor->len, &at);
    if (!top)
        return fail_file(a->cx, STC_ERR_DATA, a->path, 0, "%s isn't JSON from byte %lld on",
                         BINSPARSE_JSON, (long long)(at - descriptor->data));
    r.head = json_member(top, "binsparse");
    if (!r.head) r.head = top;
    const stc_status s = read_all(&r);
    if (s && !a->cx->diag.file[0])
        return fail_file(a->cx, s, a->path, 0, "%s", a->cx->diag.message);
    return s;
}

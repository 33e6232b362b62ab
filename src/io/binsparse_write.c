/* binsparse_write.c: writes Binsparse archives (binsparse.c): what dense, compressed and
 * singleton levels store, array by array as it is. Other levels have no name there: such
 * a tensor is written in coordinates, with its fill.
 */
#include "binsparse.h"
#include "output.h"

typedef struct bsp_writer {
    zip_writer w;
    const tensor *t;
    char levels[STC_MAX_ORDER + 1]; /* as in binsparse_name */
    textbuf text;
} bsp_writer;

/* ---- what the levels are ------------------------------------------------------------ */

static bool is_dense(const level_spec *s)
{
    return !s->kind->arrays && s->kind->props & PROP_FULL;
}

/* Coordinates in segments, each once and ascending, but for those that singletons share. */
static bool is_sparse(const level_spec *s, uint32_t props)
{
    const uint8_t both = 1 << STC_POS | 1 << STC_CRD;
    return s->kind->arrays == both && !(s->kind->caps & CAP_REGION) &&
           props & PROP_ORDERED && props & PROP_COMPACT;
}

static bool is_single(const level_spec *s, uint32_t props)
{
    return s->kind->arrays == 1 << STC_CRD && s->kind->props & PROP_BRANCHLESS &&
           props & PROP_ORDERED;
}

/* The letters of the levels, if all of them have one. */
static bool name_levels(const format *f, char *out)
{
    int n = 0;
    if (!format_is_plain(f)) return false;
    for (int l = 0; l < f->levels;) {
        const level_spec *s = &f->level[l];
        int rank = 1;
        if (is_dense(s)) {
            out[n++] = 'd';
            l++;
            continue;
        }
        if (!is_sparse(s, format_props(f, l))) return false;
        while (l + rank < f->levels && f->level[l + rank - 1].flags & FMT_NONUNIQUE &&
               is_single(&f->level[l + rank], format_props(f, l + rank)))
            rank++;
        l += rank;
        if (f->level[l - 1].flags & FMT_NONUNIQUE || rank > 9) return false;
        out[n++] = (char)('0' + rank);
    }
    out[n] = 0;
    return true;
}

/* ---- arrays --------------------------------------------------------------------- */

static void put_indices(bsp_writer *b, const char *what, int number, const index_array *a,
                        stc_status *st)
{
    char name[ZIP_NAME], descr[NPY_DESCR];
    const array_span elements = {a->data, a->len, a->width, a->stride};
    if (*st) return;
    snprintf(name, sizeof name, "%s_%d", what, number);
    npy_descr(a->width == 4 ? STC_I32 : STC_I64, descr);
    *st = npz_put(&b->w, name, descr, 1, &a->len, &elements);
}

/* Complex elements are two of their parts, bool are bytes. */
static void put_values(bsp_writer *b, const char *name, const void *vals, int64_t n,
                       stc_status *st)
{
    const stc_type t = b->t->type;
    const bool pair = type_is_complex(t);
    char descr[NPY_DESCR];
    const int32_t size = (int32_t)type_size(t) / (pair ? 2 : 1);
    const array_span elements = {vals, pair ? 2 * n : n, size, size};
    npy_descr(t == STC_BOOL ? STC_U8 : t == STC_C64 ? STC_F32 : pair ? STC_F64 : t, descr);
    if (!*st) *st = npz_put(&b->w, name, descr, 1, &elements.n, &elements);
}

static void put_arrays(bsp_writer *b, stc_status *st)
{
    const tensor *t = b->t;
    for (int k = 0, l = 0; b->levels[k]; k++) {
        const int rank = b->levels[k] == 'd' ? 1 : b->levels[k] - '0';
        if (b->levels[k] != 'd' && l)
            put_indices(b, "pointers_to", l, &t->level[l].a[STC_POS], st);
        for (int j = 0; b->levels[k] != 'd' && j < rank; j++)
            put_indices(b, "indices", l + j, &t->level[l + j].a[STC_CRD], st);
        l += rank;
    }
    put_values(b, "values", t->vals, t->nvals, st);
    char fill[16];
    type_store(t->type, fill, 0, t->fill);
    if (!tensor_fill_is_zero(t)) put_values(b, "fill_value", fill, 1, st);
}

/* ---- the descriptor ------------------------------------------------------------- */

static const char *predefined(const bsp_writer *b)
{
    const format *f = &b->t->fmt;
    for (const binsparse_name *k = binsparse_names; k->name; k++)
        if (!strcmp(k->levels, b->levels) &&
            (f->levels < 2 || f->level[0].map.mode) == k->turned)
            return k->name;
    return NULL;
}

static void add_custom(bsp_writer *b)
{
    const format *f = &b->t->fmt;
    textbuf *x = &b->text;
    int depth = 0;
    text_add(x, "    \"custom\": {\n      \"transpose\": [");
    for (int l = 0; l < f->levels; l++)
        text_add(x, "%s%d", l ? ", " : "", f->level[l].map.mode);
    text_add(x, "],\n      \"level\": ");
    for (; b->levels[depth]; depth++)
        text_add(x, "{\"level_desc\": \"%s\", \"rank\": %d, \"level\": ",
                 b->levels[depth] == 'd' ? "dense" : "sparse",
                 b->levels[depth] == 'd' ? 1 : b->levels[depth] - '0');
    text_add(x, "{\"level_desc\": \"element\"}");
    while (depth-- > 0)
        text_add(x, "}");
    text_add(x, "\n    },\n");
}

static void add_type(bsp_writer *b, const char *what, int number, int width)
{
    text_add(&b->text, "      \"%s_%d\": \"int%d\",\n", what, number, 8 * width);
}

static void add_types(bsp_writer *b)
{
    const tensor *t = b->t;
    text_add(&b->text, "    \"data_types\": {\n");
    for (int k = 0, l = 0; b->levels[k]; k++) {
        const int rank = b->levels[k] == 'd' ? 1 : b->levels[k] - '0';
        if (b->levels[k] != 'd' && l)
            add_type(b, "pointers_to", l, t->level[l].a[STC_POS].width);
        for (int j = 0; b->levels[k] != 'd' && j < rank; j++)
            add_type(b, "indices", l + j, t->level[l + j].a[STC_CRD].width);
        l += rank;
    }
    if (!tensor_fill_is_zero(t))
        text_add(&b->text, "      \"fill_value\": \"%s\",\n", binsparse_type(t->type));
    text_add(&b->text, "      \"values\": \"%s\"\n    }", binsparse_type(t->type));
}

static void describe(bsp_writer *b)
{
    const tensor *t = b->t;
    textbuf *x = &b->text;
    const char *name = predefined(b);
    text_add(x,
             "{\n  \"binsparse\": {\n    \"version\": \"0.1\",\n    \"format\": \"%s\",\n",
             name ? name : "custom");
    if (!name) add_custom(b);
    text_add(x, "    \"shape\": [");
    for (int m = 0; m < t->order; m++)
        text_add(x, "%s%lld", m ? ", " : "", (long long)t->shape[m]);
    text_add(x, "],\n    \"number_of_stored_values\": %lld,\n", (long long)t->nvals);
    if (!tensor_fill_is_zero(t)) text_add(x, "    \"fill\": true,\n");
    add_types(b);
    text_add(x, "\n  }\n}\n");
}

static stc_status put_descriptor(bsp_writer *b)
{
    text_init(&b->text, b->t->cx);
    describe(b);
    const int64_t n = b->text.len;
    char *text = text_take(&b->text);
    if (!text) return b->t->cx->diag.status;
    zip_begin(&b->w, BINSPARSE_JSON, n, crc32_of(0, text, (size_t)n));
    output_bytes(&b->w.o, text, (size_t)n);
    mem_strfree(b->t->cx, text);
    return STC_OK;
}

stc_status binsparse_write(const tensor *t, const char *path)
{
    bsp_writer b = {.t = t};
    tensor *list = NULL;
    stc_status st = STC_OK;
    if (!name_levels(&t->fmt, b.levels)) {
        format coo;
        const char *name = t->order > 9 ? "csf" : "coo"; /* a rank is one digit */
        format_builtin(name, 3, t->order, NULL, 0, &coo);
        if ((st = tensor_convert(t, &coo, t->type, t->fill, &list))) return st;
        b.t = list;
        name_levels(&coo, b.levels);
    }
    if (!(st = zip_create(&b.w, t->cx, path))) {
        st = put_descriptor(&b);
        put_arrays(&b, &st);
        st = zip_close(&b.w, st);
    }
    tensor_free(list);
    return st;
}

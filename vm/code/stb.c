/* stb.c: .stb files: programs as bytes.
 *
 * Little-endian on any host. A header (magic, major.minor, size, checksum of
 * what follows), then sections, each a tag, a size and rows; a section that
 * this version doesn't know is skipped, another major version is refused.
 * Bytes are untrusted: they are read only through `reader`, which never leaves
 * its section, and every count is held against the bytes that are left before
 * anything is allocated. The program read is yet to be verified.
 */
#include "build.h"
#include <string.h>

#define MAJOR 2
#define MINOR 0
#define HEADER 32

static const char magic[8] = {(char)0x89, 'S', 'T', 'B', '\r', '\n', 0x1a, '\n'};

enum {
    SEC_TEXT = 1, /* file and source                  */
    SEC_REGISTERS,
    SEC_TENSORS,
    SEC_EXTENTS,
    SEC_CHECKS,
    SEC_CONSTANTS,
    SEC_MERGES,
    SEC_FUNCTIONS,
    SEC_CODE,
    SEC_LINES, /* per instruction: its place in the source */
    SEC_END
};

static uint64_t checksum(const uint8_t *p, size_t n)
{
    uint64_t h = 0xcbf29ce484222325; /* FNV-1a */
    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 0x100000001b3;
    return h;
}

/* One form for each program: what an operation doesn't use is 0, here as in
 * the printed form, and refused otherwise when it is read. */
static extent plain_extent(const extent *e)
{
    bool b = e->op == EXT_DIM || e->op == EXT_ADD || e->op == EXT_MIN || e->op == EXT_MUL;
    bool none = e->op == EXT_CONST || e->op == EXT_SPAN;
    return (extent){.op = e->op,
                    .a = none ? 0 : e->a,
                    .b = b ? e->b : 0,
                    .k = b || e->op == EXT_MAX0 || e->op == EXT_SPAN ? 0 : e->k};
}

/* ---- writing ------------------------------------------------------------------- */

typedef struct writer {
    ctx *cx;
    uint8_t *data;
    int64_t len, cap;
    stc_status status;
} writer;

static void put(writer *w, const void *bytes, size_t n)
{
    if (w->status) return;
    w->status = mem_grow(w->cx, &w->data, &w->cap, w->len + (int64_t)n, 1);
    if (w->status) return;
    memcpy(w->data + w->len, bytes, n);
    w->len += (int64_t)n;
}

static void put_uint(writer *w, uint64_t v, int bytes)
{
    uint8_t b[8];
    for (int i = 0; i < bytes; i++)
        b[i] = (uint8_t)(v >> 8 * i);
    put(w, b, (size_t)bytes);
}

static void put_text(writer *w, const char *s)
{
    size_t n = s ? strlen(s) : 0;
    put_uint(w, s ? n + 1 : 0, 4); /* 0: no text, else its length and 1 */
    if (n) put(w, s, n);
}

/* The parts of a value that its class uses. */
static void put_value(writer *w, vclass cls, value v)
{
    uint32_t half[2];
    uint64_t whole[2];
    switch (cls) {
    case CLASS_F32:
    case CLASS_C64:
        memcpy(half, &v, cls == CLASS_F32 ? 4 : 8);
        put_uint(w, half[0], 4);
        if (cls == CLASS_C64) put_uint(w, half[1], 4);
        return;
    default:
        memcpy(whole, &v, cls == CLASS_C128 ? 16 : 8);
        put_uint(w, whole[0], 8);
        if (cls == CLASS_C128) put_uint(w, whole[1], 8);
    }
}

enum { FN_HOST = 128 };   /* with a function's parameters: the host computes it */
enum { HOST_KIND = 255 }; /* a level kind of the host's own: its name follows */

static void put_format(writer *w, const format *f)
{
    put_uint(w, (uint64_t)f->order, 1);
    put_uint(w, (uint64_t)f->levels, 1);
    for (int l = 0; l < f->levels; l++) {
        const level_spec *s = &f->level[l];
        const int kind = level_kind_number(s->kind);
        put_uint(w, kind < 0 ? HOST_KIND : (uint64_t)kind, 1);
        if (kind < 0) put_text(w, s->kind->name);
        put_uint(w, s->flags, 1);
        const level_map m = map_plain(&s->map);
        put_uint(w, m.op, 1);
        put_uint(w, m.mode, 1);
        put_uint(w, m.mode2, 1);
        put_uint(w, m.modes, 1);
        put_uint(w, (uint64_t)m.k, 8);
    }
}

static void put_tensor(writer *w, const prog_tensor *t)
{
    put_text(w, t->name);
    put_uint(w, t->role, 1);
    put_uint(w, (uint64_t)t->type, 1);
    put_uint(w, t->policy, 1);
    put_uint(w, (uint64_t)(t->fill_later | t->keep_while << 1 | t->single << 2), 1);
    put_uint(w, t->keep_while ? t->source : 0, 2);
    put_uint(w, (uint64_t)t->capacity, 8);
    put_value(w, type_class(t->type), t->fill);
    put_format(w, &t->fmt);
    if (t->role == ROLE_INPUT) return;
    for (int m = 0; m < t->order; m++)
        put_uint(w, t->shape[m], 2);
}

static void put_merge(writer *w, const merge_desc *m)
{
    put_uint(w, m->lo, 2);
    put_uint(w, m->hi, 2);
    put_uint(w, m->universe, 1);
    put_uint(w, m->count, 1);
    put_uint(w, m->count <= MERGE_TABLE_MAX ? m->produce : 0, 8);
    put_uint(w, (uint64_t)m->postfix_len, 2);
    if (m->postfix_len) put(w, m->postfix, (size_t)m->postfix_len);
    for (int k = 0; k < m->count; k++) {
        const merge_operand *o = &m->operand[k];
        bool locate = o->role == MERGE_LOCATE;
        put_uint(w, o->role, 1);
        put_uint(w, o->cursor, 2);
        if (!locate) continue;
        put_uint(w, o->tensor, 2);
        put_uint(w, o->level, 2);
        put_uint(w, o->up, 2);
        put_uint(w, o->shift, 2);
        put_uint(w, (uint64_t)o->coef, 8);
    }
}

static void put_extents(writer *w, const program *p)
{
    put_uint(w, (uint64_t)p->next, 4);
    for (int i = 0; i < p->next; i++) {
        const extent e = plain_extent(&p->ext[i]);
        put_uint(w, e.op, 1);
        put_uint(w, e.a, 2);
        put_uint(w, e.b, 2);
        put_uint(w, (uint64_t)e.k, 8);
    }
}

static void put_checks(writer *w, const program *p)
{
    put_uint(w, (uint64_t)p->ncheck, 4);
    for (int i = 0; i < p->ncheck; i++) {
        const ext_check *c = &p->check[i];
        put_uint(w, c->rel, 1);
        put_uint(w, c->a, 2);
        put_uint(w, c->b, 2);
        put_uint(w, (uint32_t)c->at.begin, 4);
        put_uint(w, (uint32_t)c->at.end, 4);
        put_text(w, c->text);
    }
}

static void put_functions(writer *w, const program *p)
{
    put_uint(w, (uint64_t)p->nfn, 4);
    for (int i = 0; i < p->nfn; i++) {
        const user_fn *f = &p->fn[i];
        put_text(w, f->name);
        put_uint(w, f->params | (f->host ? FN_HOST : 0), 1);
        for (int k = 0; k < f->params; k++)
            put_uint(w, f->cls[k], 1);
        put_uint(w, f->result, 1);
        put_uint(w, f->nv, 2);
        put_uint(w, f->begin, 4);
        put_uint(w, f->end, 4);
    }
}

static void put_code(writer *w, const program *p)
{
    put_uint(w, (uint64_t)p->ncode, 4);
    for (int i = 0; i < p->ncode; i++) {
        put_uint(w, p->code[i].op, 2);
        for (int k = 0; k < 7; k++)
            put_uint(w, p->code[i].arg[k], 2);
    }
}

static void put_lines(writer *w, const program *p)
{
    put_uint(w, (uint64_t)p->ncode, 4);
    for (int i = 0; i < p->ncode; i++) {
        put_uint(w, (uint32_t)p->at[i].begin, 4);
        put_uint(w, (uint32_t)p->at[i].end, 4);
    }
}

static void put_section(writer *w, const program *p, int tag)
{
    switch (tag) {
    case SEC_TEXT:
        put_text(w, p->file);
        put_text(w, p->source);
        break;
    case SEC_REGISTERS:
        put_uint(w, (uint64_t)p->nv, 4);
        put_uint(w, (uint64_t)p->ni, 4);
        put_uint(w, (uint64_t)p->nm, 4);
        put_uint(w, (uint64_t)p->nc, 4);
        break;
    case SEC_TENSORS:
        put_uint(w, (uint64_t)p->ntensor, 4);
        for (int i = 0; i < p->ntensor; i++)
            put_tensor(w, &p->tensor[i]);
        break;
    case SEC_EXTENTS:
        put_extents(w, p);
        break;
    case SEC_CHECKS:
        put_checks(w, p);
        break;
    case SEC_CONSTANTS:
        put_uint(w, (uint64_t)p->nconst, 4);
        for (int i = 0; i < p->nconst; i++) {
            put_uint(w, p->konst[i].cls, 1);
            put_value(w, p->konst[i].cls, p->konst[i].v);
        }
        break;
    case SEC_MERGES:
        put_uint(w, (uint64_t)p->nmerge, 4);
        for (int i = 0; i < p->nmerge; i++)
            put_merge(w, &p->merge[i]);
        break;
    case SEC_FUNCTIONS:
        put_functions(w, p);
        break;
    case SEC_CODE:
        put_code(w, p);
        break;
    default: /* SEC_LINES */
        put_lines(w, p);
        break;
    }
}

static void poke(writer *w, int64_t at, uint64_t v, int bytes)
{
    if (w->status) return;
    for (int i = 0; i < bytes; i++)
        w->data[at + i] = (uint8_t)(v >> 8 * i);
}

stc_status program_encode(const program *p, void **bytes, size_t *size)
{
    writer w = {.cx = p->cx};
    put(&w, magic, sizeof magic);
    put_uint(&w, MAJOR, 2);
    put_uint(&w, MINOR, 2);
    put_uint(&w, SEC_END - 1, 4);
    put_uint(&w, 0, 8); /* size and checksum follow */
    put_uint(&w, 0, 8);
    for (int tag = SEC_TEXT; tag < SEC_END; tag++) {
        put_uint(&w, (uint64_t)tag, 4);
        int64_t at = w.len;
        put_uint(&w, 0, 8);
        put_section(&w, p, tag);
        poke(&w, at, (uint64_t)(w.len - at - 8), 8);
    }
    poke(&w, 16, (uint64_t)w.len, 8);
    if (!w.status) poke(&w, 24, checksum(w.data + HEADER, (size_t)w.len - HEADER), 8);
    void *out = w.status ? NULL : mem_alloc(p->cx, (size_t)w.len);
    if (out) {
        memcpy(out, w.data, (size_t)w.len);
        *bytes = out;
        *size = (size_t)w.len;
    }
    mem_free(p->cx, w.data, (size_t)w.cap);
    return out ? STC_OK : p->cx->diag.status;
}

/* ---- reading ------------------------------------------------------------------- */

/* The only way to the bytes: past the end everything is 0 and `bad` is set. */
typedef struct reader {
    ctx *cx;
    const uint8_t *at;
    size_t left;
    bool bad;
    stc_status failed; /* no memory for a name */
} reader;

static uint64_t get(reader *r, int bytes)
{
    if (r->left < (size_t)bytes) {
        r->bad = true;
        r->left = 0;
        return 0;
    }
    uint64_t v = 0;
    for (int i = 0; i < bytes; i++)
        v |= (uint64_t)r->at[i] << 8 * i;
    r->at += bytes;
    r->left -= (size_t)bytes;
    return v;
}

/* A number of rows of at least `size` bytes each that can be there. */
static int get_count(reader *r, size_t size, uint64_t max)
{
    uint64_t n = get(r, 4);
    if (n > max || n > r->left / size) r->bad = true;
    return r->bad ? 0 : (int)n;
}

/* Allocated; NULL if there is none, or r is bad. */
static char *get_text(reader *r, stc_status *status)
{
    uint64_t n = get(r, 4);
    if (n == 0 || r->bad) return NULL;
    n--;
    if (n > r->left || memchr(r->at, 0, n)) {
        r->bad = true;
        return NULL;
    }
    char *buf = mem_alloc(r->cx, n + 1);
    if (!buf) {
        *status = r->cx->diag.status;
        return NULL;
    }
    memcpy(buf, r->at, n);
    buf[n] = 0;
    r->at += n;
    r->left -= n;
    return buf;
}

/* A text that the program keeps; NULL where there is none. */
static stc_status get_kept(reader *r, program *p, const char **to)
{
    stc_status status = STC_OK;
    char *text = get_text(r, &status);
    if (!text) return status;
    *to = program_text(p, text);
    mem_strfree(r->cx, text);
    return *to ? STC_OK : r->cx->diag.status;
}

static value get_value(reader *r, vclass cls)
{
    value v;
    memset(&v, 0, sizeof v);
    if (cls == CLASS_F32 || cls == CLASS_C64) {
        uint32_t half[2] = {(uint32_t)get(r, 4), 0};
        if (cls == CLASS_C64) half[1] = (uint32_t)get(r, 4);
        memcpy(&v, half, sizeof half);
    } else {
        uint64_t whole[2] = {get(r, 8), 0};
        if (cls == CLASS_C128) whole[1] = get(r, 8);
        memcpy(&v, whole, sizeof whole);
    }
    return v;
}

static const level_kind *get_kind(reader *r)
{
    const int number = (int)get(r, 1);
    if (number != HOST_KIND) return level_kind_at(number);
    char *name = get_text(r, &r->failed);
    if (!name) return NULL;
    const level_kind *k = level_kind_find(r->cx, name, strlen(name));
    mem_strfree(r->cx, name);
    return k && level_kind_number(k) < 0 ? k : NULL;
}

static void get_format(reader *r, format *f)
{
    f->order = (int)get(r, 1);
    f->levels = (int)get(r, 1);
    if (f->order > STC_MAX_ORDER || f->levels > STC_MAX_ORDER) {
        r->bad = true;
        f->levels = 0;
    }
    for (int l = 0; l < f->levels; l++) {
        level_spec *s = &f->level[l];
        s->kind = get_kind(r);
        if (!s->kind) r->bad = true;
        s->flags = (uint8_t)get(r, 1);
        s->map.op = (uint8_t)get(r, 1);
        s->map.mode = (uint8_t)get(r, 1);
        s->map.mode2 = (uint8_t)get(r, 1);
        s->map.modes = (uint8_t)get(r, 1);
        s->map.k = (int64_t)get(r, 8);
        if (!spec_plain(s)) r->bad = true;
    }
}

static stc_status get_tensor(reader *r, program *p)
{
    prog_tensor t;
    memset(&t, 0, sizeof t);
    stc_status status = STC_OK;
    t.name = get_text(r, &status);
    if (!t.name) r->bad = true;
    t.role = (uint8_t)get(r, 1);
    t.type = (stc_type)get(r, 1);
    t.policy = (uint8_t)get(r, 1);
    uint64_t flags = get(r, 1);
    t.fill_later = flags & 1;
    t.keep_while = flags >> 1 & 1;
    t.single = flags >> 2 & 1;
    t.source = (uint16_t)get(r, 2);
    t.capacity = (int64_t)get(r, 8);
    if (t.role > ROLE_WORK || (unsigned)t.type >= TYPE_COUNT ||
        t.policy >= WS_POLICY_COUNT || flags > 7 || (t.source && !t.keep_while))
        r->bad = true;
    if (!r->bad) t.fill = get_value(r, type_class(t.type));
    if (!r->bad) get_format(r, &t.fmt);
    if (!status) status = r->failed;
    t.order = t.fmt.order;
    if (t.role != ROLE_INPUT && !r->bad)
        for (int m = 0; m < t.order; m++)
            t.shape[m] = (uint16_t)get(r, 2);
    if (!status && !r->bad && program_tensor(p, &t) < 0) status = p->cx->diag.status;
    mem_strfree(p->cx, t.name);
    return status;
}

static stc_status get_merge(reader *r, program *p)
{
    merge_operand operand[64];
    uint8_t pf[1024];
    merge_desc m = {.operand = operand, .postfix = pf};
    m.lo = (uint16_t)get(r, 2);
    m.hi = (uint16_t)get(r, 2);
    uint64_t universe = get(r, 1);
    m.universe = universe;
    m.count = (uint8_t)get(r, 1);
    m.produce = get(r, 8);
    m.postfix_len = (int)get(r, 2);
    if (m.count > 64 || m.postfix_len > 1024 || universe > 1 ||
        (m.count > MERGE_TABLE_MAX && m.produce))
        r->bad = true;
    for (int k = 0; k < m.postfix_len && !r->bad; k++) {
        pf[k] = (uint8_t)get(r, 1);
        if (pf[k] > PF_FALSE) r->bad = true;
    }
    for (int k = 0; k < m.count && !r->bad; k++) {
        merge_operand *o = &operand[k];
        memset(o, 0, sizeof *o);
        o->role = (uint8_t)get(r, 1);
        o->cursor = (uint16_t)get(r, 2);
        o->shift = ROOT;
        o->coef = 1;
        if (o->role > MERGE_KNOWN) r->bad = true;
        if (o->role != MERGE_LOCATE) continue;
        o->tensor = (uint16_t)get(r, 2);
        o->level = (uint16_t)get(r, 2);
        o->up = (uint16_t)get(r, 2);
        o->shift = (uint16_t)get(r, 2);
        o->coef = (int64_t)get(r, 8);
    }
    if (r->bad) return STC_OK;
    return program_merge(p, &m) < 0 ? p->cx->diag.status : STC_OK;
}

static stc_status get_function(reader *r, program *p)
{
    user_fn f;
    memset(&f, 0, sizeof f);
    stc_status status = STC_OK;
    f.name = get_text(r, &status);
    if (!f.name) r->bad = true;
    f.params = (uint16_t)get(r, 1);
    f.host = f.params & FN_HOST;
    f.params &= FN_HOST - 1;
    if (f.params > 8) r->bad = true;
    for (int k = 0; k < f.params && !r->bad; k++) {
        f.cls[k] = (uint8_t)get(r, 1);
        if (f.cls[k] >= CLASS_COUNT) r->bad = true;
    }
    f.result = (uint8_t)get(r, 1);
    if (f.result >= CLASS_COUNT) r->bad = true;
    f.nv = (uint16_t)get(r, 2);
    f.begin = (uint32_t)get(r, 4);
    f.end = (uint32_t)get(r, 4);
    if (!status && !r->bad && program_fn(p, &f) < 0) status = p->cx->diag.status;
    mem_strfree(p->cx, f.name);
    return status;
}

static stc_status get_row(reader *r, program *p, int tag)
{
    stc_status status = STC_OK;
    extent e = {0}, x;
    ext_check c = {0};
    constant k;
    switch (tag) {
    case SEC_TENSORS:
        return get_tensor(r, p);
    case SEC_EXTENTS:
        e.op = (uint8_t)get(r, 1);
        e.a = (uint16_t)get(r, 2);
        e.b = (uint16_t)get(r, 2);
        e.k = (int64_t)get(r, 8);
        x = plain_extent(&e);
        if (e.op > EXT_SPAN || x.a != e.a || x.b != e.b || x.k != e.k) r->bad = true;
        return program_push_extent(p, e) < 0 ? p->cx->diag.status : STC_OK;
    case SEC_CHECKS:
        c.rel = (uint8_t)get(r, 1);
        c.a = (uint16_t)get(r, 2);
        c.b = (uint16_t)get(r, 2);
        c.at.begin = (int32_t)get(r, 4);
        c.at.end = (int32_t)get(r, 4);
        c.text = get_text(r, &status);
        if (!c.text) r->bad = true;
        if (c.text && program_check(p, c) < 0) status = p->cx->diag.status;
        mem_strfree(p->cx, c.text);
        return status;
    case SEC_CONSTANTS:
        memset(&k, 0, sizeof k);
        k.cls = (uint8_t)get(r, 1);
        if (k.cls >= CLASS_COUNT) r->bad = true;
        if (!r->bad) k.v = get_value(r, k.cls);
        return program_push_const(p, k) < 0 ? p->cx->diag.status : STC_OK;
    case SEC_MERGES:
        return get_merge(r, p);
    default:
        return get_function(r, p);
    }
}

static stc_status get_code(reader *r, program *p)
{
    int n = get_count(r, 16, CODE_MAX);
    if (program_reserve(p, n)) return p->cx->diag.status;
    for (int i = 0; i < n; i++) {
        uint16_t arg[7];
        uint16_t op = (uint16_t)get(r, 2);
        for (int k = 0; k < 7; k++)
            arg[k] = (uint16_t)get(r, 2);
        if (op >= OP_COUNT) r->bad = true;
        if (program_emit(p, (span){0, 0}, (opcode)op, arg, 7) < 0)
            return p->cx->diag.status;
    }
    return STC_OK;
}

static stc_status get_section(reader *r, program *p, int tag)
{
    /* The fewest bytes a row can have, by tag. */
    static const uint8_t least[SEC_END] = {
        [SEC_TENSORS] = 24,  [SEC_EXTENTS] = 13, [SEC_CHECKS] = 17,
        [SEC_CONSTANTS] = 5, [SEC_MERGES] = 16,  [SEC_FUNCTIONS] = 16};
    stc_status status = STC_OK;
    int n;
    switch (tag) {
    case SEC_TEXT:
        status = get_kept(r, p, &p->file);
        return status ? status : get_kept(r, p, &p->source);
    case SEC_REGISTERS: {
        int *const to[] = {&p->nv, &p->ni, &p->nm, &p->nc};
        for (int k = 0; k < 4; k++) {
            uint64_t count = get(r, 4);
            if (count > ROOT) r->bad = true;
            *to[k] = r->bad ? 0 : (int)count;
        }
        return STC_OK;
    }
    case SEC_CODE:
        return get_code(r, p);
    case SEC_LINES:
        n = get_count(r, 8, CODE_MAX);
        if (n != p->ncode) r->bad = true;
        for (int i = 0; i < n && !r->bad; i++) {
            p->at[i].begin = (int32_t)get(r, 4);
            p->at[i].end = (int32_t)get(r, 4);
        }
        return STC_OK;
    default:
        n = get_count(r, least[tag], TABLE_MAX);
        for (int i = 0; i < n && !status && !r->bad; i++)
            status = get_row(r, p, tag);
        return status;
    }
}

static stc_status corrupt(ctx *cx, const char *why)
{
    return fail(cx, STC_ERR_CORRUPT, "not a sound bytecode file: %s", why);
}

static stc_status check_header(ctx *cx, reader *r, const uint8_t *bytes, size_t size)
{
    if (size < HEADER || memcmp(bytes, magic, sizeof magic) != 0)
        return corrupt(cx, "it doesn't begin with the magic number of .stb files");
    r->at += sizeof magic;
    r->left -= sizeof magic;
    uint64_t major = get(r, 2), minor = get(r, 2);
    if (major != MAJOR)
        return fail(cx, STC_ERR_CORRUPT,
                    "bytecode of version %llu.%llu; this stcvm reads version %d",
                    (unsigned long long)major, (unsigned long long)minor, MAJOR);
    if (get(r, 4) != SEC_END - 1 && minor <= MINOR)
        return corrupt(cx, "it has an unknown number of sections");
    if (get(r, 8) != size) return corrupt(cx, "it isn't as long as it says");
    if (get(r, 8) != checksum(bytes + HEADER, size - HEADER))
        return corrupt(cx, "its checksum is wrong");
    return STC_OK;
}

/* Sections in ascending order of their tags, each at most once. */
static stc_status get_sections(ctx *cx, reader *r, program *p)
{
    uint64_t last = 0;
    while (r->left) {
        uint64_t tag = get(r, 4), size = get(r, 8);
        if (r->bad || size > r->left) return corrupt(cx, "a section is cut off");
        if (tag <= last) return corrupt(cx, "its sections are out of order");
        last = tag;
        reader section = {.cx = cx, .at = r->at, .left = (size_t)size};
        if (tag < SEC_END) {
            stc_status status = get_section(&section, p, (int)tag);
            if (status) return status;
            if (section.bad) return corrupt(cx, "a section holds what can't be");
            if (section.left) return corrupt(cx, "a section is longer than its rows");
        }
        r->at += size;
        r->left -= (size_t)size;
    }
    return last >= SEC_CODE ? STC_OK : corrupt(cx, "it has no code");
}

stc_status program_decode(ctx *cx, const void *bytes, size_t size, program **out)
{
    reader r = {.cx = cx, .at = bytes, .left = size};
    if (check_header(cx, &r, bytes, size)) return cx->diag.status;
    program *p = program_new(cx);
    if (!p) return cx->diag.status;
    p->foreign = true;
    stc_status status = get_sections(cx, &r, p);
    if (status) {
        program_free(p);
        return status;
    }
    *out = p;
    return STC_OK;
}

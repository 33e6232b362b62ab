/* stb.c: .stb files: programs as bytes.
 *
 * Little-endian on any host. A header (magic, major.minor, size, checksum of
 * what follows), then sections, each a tag, a size and rows; a section that
 * this version doesn't know is skipped, another major version is refused.
 * What a row is made of is said once, for writing and for reading.
 * Bytes are untrusted: they are read only by `get`, which never leaves
 * its section, and every count is held against the bytes that are left before
 * anything is allocated. The program read is yet to be verified.
 *
 * Plans of the same text for data of other kinds are files in the last section, whose text
 * is the program's.
 */
#include "build.h"
#include "policies.h"
#include "text.h"
#include <string.h>

#define MAJOR 2
#define MINOR 2
#define MINOR_PLAIN 1 /* of files without plans for other data */
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
    SEC_LINES,    /* per instruction: its place in the source */
    SEC_NOTATION, /* if the source can be planned anew: what was declared; since 2.1 */
    SEC_PLANS,    /* of the same source for other data; since 2.2              */
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
    const char *operands = e->op <= EXT_SPAN ? ext_operands[e->op] : "";
    extent plain = {.op = e->op};
    for (int k = 0; operands[k]; k++) {
        if (operands[k] == 'k') plain.k = e->k;
        if (operands[k] != 'k') *(k ? &plain.b : &plain.a) = k ? e->b : e->a;
    }
    return plain;
}

/* ---- either way ---------------------------------------------------------------- */

typedef struct coder {
    ctx *cx;
    program *p; /* that is written, or comes of what is read */
    bool reads;
    stc_status status; /* no memory                                              */
    uint8_t *data;     /* written so far                                         */
    int64_t len, cap;
    const uint8_t *at; /* still to be read, of this section                      */
    size_t left;
    uint64_t sections; /* by the header; 0: of a later version              */
    program **plan;    /* for other data, to be written, or that were read       */
    int nplan;
    const program *of; /* whose plan this is; NULL: it is a file of its own      */
    int number;        /* … and which one, from 1                                */
    bool bad;          /* what was read can't be, or lies past the end, where all is 0 */
    arena scratch;     /* texts that were read                                   */
} coder;

static void put(coder *c, const void *bytes, size_t n)
{
    if (c->status) return;
    c->status = mem_grow(c->cx, &c->data, &c->cap, c->len + (int64_t)n, 1);
    if (c->status) return;
    memcpy(c->data + c->len, bytes, n);
    c->len += (int64_t)n;
}

static uint64_t get(coder *c, int bytes)
{
    if (c->left < (size_t)bytes) {
        c->bad = true;
        c->left = 0;
        return 0;
    }
    uint64_t v = 0;
    for (int i = 0; i < bytes; i++)
        v |= (uint64_t)c->at[i] << 8 * i;
    c->at += bytes;
    c->left -= (size_t)bytes;
    return v;
}

/* Writes v and gives it back; or gives what is read. */
static uint64_t number(coder *c, uint64_t v, int bytes)
{
    uint8_t b[8];
    if (c->reads) return get(c, bytes);
    for (int i = 0; i < bytes; i++)
        b[i] = (uint8_t)(v >> 8 * i);
    put(c, b, (size_t)bytes);
    return v;
}

/* What was read can't be, if so: what is written is as it is. */
static void refuse_if(coder *c, bool wrong)
{
    c->bad |= wrong && c->reads;
}

static uint8_t byte(coder *c, uint64_t v)
{
    return (uint8_t)number(c, v, 1);
}

static uint16_t word(coder *c, uint16_t v)
{
    return (uint16_t)number(c, v, 2);
}

static span code_span(coder *c, span s)
{
    s.begin = (int32_t)number(c, (uint32_t)s.begin, 4);
    s.end = (int32_t)number(c, (uint32_t)s.end, 4);
    return s;
}

/* A number of rows of at least `size` bytes each that can be there. */
static int count(coder *c, int n, size_t size, uint64_t max)
{
    const uint64_t rows = number(c, (uint64_t)n, 4);
    refuse_if(c, rows > max || rows > c->left / size);
    return c->bad ? 0 : (int)rows;
}

/* What is read lasts as long as the coder; NULL: there is no text, or it is bad. */
static char *text(coder *c, const char *s)
{
    const size_t len = s ? strlen(s) : 0;
    uint64_t n = number(c, s ? len + 1 : 0, 4); /* 0: no text, else its length and 1 */
    if (!c->reads && len) put(c, s, len);
    if (!c->reads || n == 0 || c->bad) return NULL;
    n--;
    if (n > c->left || memchr(c->at, 0, n)) {
        c->bad = true;
        return NULL;
    }
    char *out = arena_text(&c->scratch, (const char *)c->at, n);
    if (!out) c->status = c->cx->diag.status;
    c->at += n;
    c->left -= n;
    return out;
}

/* A name or message, which has to be there. */
static char *some_text(coder *c, const char *s)
{
    char *out = text(c, s);
    refuse_if(c, !out);
    return out;
}

/* Whether there is a row to be kept: one that was read, and can be. */
static bool keeps(const coder *c)
{
    return c->reads && !c->bad && !c->status;
}

/* It was: its number, -1 if there is no memory. */
static void kept(coder *c, int row)
{
    if (row < 0) c->status = c->cx->diag.status;
}

/* ---- rows ---------------------------------------------------------------------- */

/* The parts of a value that its class uses. */
static value code_value(coder *c, vclass cls, value v)
{
    const bool two = cls == CLASS_C64 || cls == CLASS_C128;
    uint32_t half[2] = {0};
    uint64_t whole[2] = {0};
    if (cls == CLASS_F32 || cls == CLASS_C64) {
        memcpy(half, &v, two ? 8 : 4);
        for (int k = 0; k <= two; k++)
            half[k] = (uint32_t)number(c, half[k], 4);
        memcpy(&v, half, sizeof half);
    } else {
        memcpy(whole, &v, two ? 16 : 8);
        for (int k = 0; k <= two; k++)
            whole[k] = number(c, whole[k], 8);
        memcpy(&v, whole, sizeof whole);
    }
    return v;
}

enum { FN_HOST = 128 };   /* with a function's parameters: the host computes it */
enum { HOST_KIND = 255 }; /* a level kind or policy of the host's own: its name follows */

static const level_kind *code_kind(coder *c, const level_kind *k)
{
    const int number = k ? level_kind_number(k) : 0;
    const int as = byte(c, number < 0 ? HOST_KIND : (uint64_t)number);
    const char *name = as == HOST_KIND ? text(c, k ? k->name : NULL) : NULL;
    if (!c->reads) return k;
    if (as != HOST_KIND) return level_kind_at(as);
    k = name ? level_kind_find(c->cx, name, strlen(name), false) : NULL;
    return k && level_kind_number(k) < 0 ? k : NULL;
}

static void code_format(coder *c, format *f)
{
    f->order = byte(c, (uint64_t)f->order);
    f->levels = byte(c, (uint64_t)f->levels);
    refuse_if(c, f->order > STC_MAX_ORDER || f->levels > STC_MAX_ORDER);
    if (c->bad) f->levels = 0;
    for (int l = 0; l < f->levels; l++) {
        level_spec *s = &f->level[l];
        s->kind = code_kind(c, s->kind);
        refuse_if(c, !s->kind);
        if (s->kind && s->kind->takes)
            s->number = (int64_t)number(c, (uint64_t)s->number, 8);
        s->flags = byte(c, s->flags);
        coded_map m = map_code(&s->map);
        m.op = byte(c, m.op);
        m.mode = byte(c, m.mode);
        m.mode2 = byte(c, m.mode2);
        m.modes = byte(c, m.modes);
        m.k = (int64_t)number(c, (uint64_t)m.k, 8);
        refuse_if(c, s->flags >= 2 * FMT_INTERLEAVED || !map_decode(&m, &s->map));
    }
}

static uint8_t code_policy(coder *c, uint8_t policy)
{
    const bool host = policy >= WS_POLICY_COUNT;
    const int as = byte(c, host ? HOST_KIND : policy);
    const char *name = as == HOST_KIND ? text(c, policy_name(c->cx, policy)) : NULL;
    if (!c->reads) return policy;
    const int found = name ? policy_find(c->cx, name, strlen(name)) : -1;
    refuse_if(c, as == HOST_KIND ? found < WS_POLICY_COUNT : as >= WS_POLICY_COUNT);
    return (uint8_t)(c->bad ? WS_AUTO : as == HOST_KIND ? found : as);
}

static void code_tensor(coder *c, prog_tensor t)
{
    t.name = some_text(c, t.name);
    t.role = byte(c, t.role);
    t.type = (stc_type)byte(c, (uint64_t)t.type);
    t.policy = code_policy(c, t.policy);
    const uint8_t flags =
        byte(c, (uint64_t)(t.fill_later | t.keep_while << 1 | t.single << 2));
    t.fill_later = flags & 1;
    t.keep_while = flags >> 1 & 1;
    t.single = flags >> 2 & 1;
    t.source = word(c, t.keep_while || c->reads ? t.source : 0);
    t.capacity = (int64_t)number(c, (uint64_t)t.capacity, 8);
    refuse_if(c, t.role > ROLE_WORK || (unsigned)t.type >= TYPE_COUNT || flags > 7 ||
                     (t.source && !t.keep_while));
    if (!c->bad) t.fill = code_value(c, type_class(t.type), t.fill);
    if (!c->bad) code_format(c, &t.fmt);
    t.order = t.fmt.order;
    for (int m = 0; t.role != ROLE_INPUT && !c->bad && m < t.order; m++)
        t.shape[m] = word(c, t.shape[m]);
    if (keeps(c)) kept(c, program_tensor(c->p, &t));
}

static void code_extent(coder *c, extent e)
{
    e = plain_extent(&e);
    e.op = byte(c, e.op);
    e.a = word(c, e.a);
    e.b = word(c, e.b);
    e.k = (int64_t)number(c, (uint64_t)e.k, 8);
    const extent x = plain_extent(&e);
    refuse_if(c, e.op > EXT_SPAN || x.a != e.a || x.b != e.b || x.k != e.k);
    if (keeps(c)) kept(c, program_push_extent(c->p, e));
}

static void code_check(coder *c, ext_check x)
{
    x.rel = byte(c, x.rel);
    x.a = word(c, x.a);
    x.b = word(c, x.b);
    x.at = code_span(c, x.at);
    x.text = some_text(c, x.text);
    if (keeps(c)) kept(c, program_check(c->p, x));
}

static void code_constant(coder *c, constant k)
{
    k.cls = byte(c, k.cls);
    refuse_if(c, k.cls >= CLASS_COUNT);
    if (!c->bad) k.v = code_value(c, (vclass)k.cls, k.v);
    if (keeps(c)) kept(c, program_push_const(c->p, k));
}

static merge_operand code_operand(coder *c, merge_operand o)
{
    o.role = byte(c, o.role);
    o.cursor = word(c, o.cursor);
    refuse_if(c, o.role > MERGE_KNOWN);
    if (o.role != MERGE_LOCATE) return o;
    o.tensor = word(c, o.tensor);
    o.level = word(c, o.level);
    o.up = word(c, o.up);
    o.shift = word(c, o.shift);
    o.coef = (int64_t)number(c, (uint64_t)o.coef, 8);
    return o;
}

static void code_merge(coder *c, merge_desc m)
{
    merge_operand operand[64], blank = {.shift = ROOT, .coef = 1};
    uint8_t pf[1024];
    const merge_desc from = m;
    m.operand = operand;
    m.postfix = pf;
    m.lo = word(c, m.lo);
    m.hi = word(c, m.hi);
    const uint8_t universe = byte(c, m.universe);
    m.universe = universe;
    m.count = byte(c, m.count);
    m.produce = number(c, m.count <= MERGE_TABLE_MAX || c->reads ? m.produce : 0, 8);
    m.postfix_len = word(c, (uint16_t)m.postfix_len);
    refuse_if(c, m.count > 64 || m.postfix_len > 1024 || universe > 1 ||
                     (m.count > MERGE_TABLE_MAX && m.produce));
    for (int k = 0; k < m.postfix_len && !c->bad; k++) {
        const uint8_t step = byte(c, c->reads ? 0 : from.postfix[k]);
        refuse_if(c, step > PF_FALSE);
        if (c->reads) pf[k] = step;
    }
    for (int k = 0; k < m.count && !c->bad; k++) {
        const merge_operand o = code_operand(c, c->reads ? blank : from.operand[k]);
        if (c->reads) operand[k] = o;
    }
    if (keeps(c)) kept(c, program_merge(c->p, &m));
}

static void code_function(coder *c, user_fn f)
{
    f.name = some_text(c, f.name);
    const uint8_t params = byte(c, f.params | (f.host ? FN_HOST : 0));
    f.host = params & FN_HOST;
    f.params = params & (FN_HOST - 1);
    refuse_if(c, f.params > 8);
    for (int k = 0; k < f.params && !c->bad; k++) {
        f.cls[k] = byte(c, f.cls[k]);
        refuse_if(c, f.cls[k] >= CLASS_COUNT);
    }
    f.result = byte(c, f.result);
    refuse_if(c, f.result >= CLASS_COUNT);
    f.nv = word(c, f.nv);
    f.begin = (uint32_t)number(c, f.begin, 4);
    f.end = (uint32_t)number(c, f.end, 4);
    if (keeps(c)) kept(c, program_fn(c->p, &f));
}

static void code_insn(coder *c, insn in)
{
    in.op = word(c, in.op);
    for (int k = 0; k < 7; k++)
        in.arg[k] = word(c, in.arg[k]);
    refuse_if(c, in.op >= OP_COUNT);
    if (keeps(c)) kept(c, program_emit(c->p, (span){0, 0}, (opcode)in.op, in.arg, 7));
}

/* ---- sections ------------------------------------------------------------------ */

/* A text of the program's own. */
static const char *own_text(coder *c, const char *s)
{
    const char *read = text(c, s);
    if (!read) return NULL;
    const char *own = program_text(c->p, read);
    if (!own) c->status = c->cx->diag.status;
    return own;
}

/* How many registers there are in one file. */
static int code_registers(coder *c, int n)
{
    const uint64_t registers = number(c, (uint64_t)n, 4);
    refuse_if(c, registers > ROOT);
    return c->bad ? 0 : (int)registers;
}

/* The places of instructions, of which there are as many. */
static void code_lines(coder *c)
{
    const int n = count(c, c->p->ncode, 8, CODE_MAX);
    refuse_if(c, n != c->p->ncode);
    for (int i = 0; i < n && !c->bad; i++) {
        const span at = code_span(c, c->p->at[i]);
        if (c->reads) c->p->at[i] = at;
    }
}

/* What the code was planned for, and what was declared of each tensor. */
static void code_notation(coder *c)
{
    c->p->like = number(c, c->p->like, 8);
    const int n = count(c, c->p->ntensor, 1, TABLE_MAX);
    refuse_if(c, n != c->p->ntensor);
    for (int i = 0; i < n && !c->bad; i++) {
        const uint8_t declared = byte(c, c->p->tensor[i].declared);
        refuse_if(c, declared > SAID_ALL || (declared && !(declared & SAID_NAME)));
        if (c->reads) c->p->tensor[i].declared = declared;
    }
    c->p->notation = true;
}

static stc_status encode(coder *c, void **bytes, size_t *size);
static stc_status decode(coder *c, const void *bytes, size_t size);

static void write_plan(coder *c, const program *p)
{
    program same = *p;
    coder in = {.cx = c->cx, .p = &same, .of = c->p};
    void *bytes;
    size_t size;
    c->status = encode(&in, &bytes, &size);
    if (c->status) return;
    number(c, size, 8);
    put(c, bytes, size);
    mem_free(c->cx, bytes, size);
}

static void read_plan(coder *c)
{
    const uint64_t size = number(c, 0, 8);
    refuse_if(c, size > c->left);
    if (c->bad) return;
    coder in = {.cx = c->cx, .of = c->p, .number = c->nplan + 1};
    c->status = decode(&in, c->at, (size_t)size);
    if (c->status) return;
    c->plan[c->nplan++] = in.p;
    refuse_if(c, !in.p->notation);
    c->at += size;
    c->left -= (size_t)size;
}

/* Files in this one, which have none themselves. */
static void code_plans(coder *c)
{
    const int n = count(c, c->nplan, 8 + HEADER, PLANS_MAX - 1);
    refuse_if(c, !n || c->of || !c->p->notation);
    for (int i = 0; i < n && !c->status && !c->bad; i++)
        if (c->reads) {
            read_plan(c);
        } else {
            write_plan(c, c->plan[i]);
        }
}

/* Row i of a table: empty where it is read. */
#define ROW(code, table)                                                                   \
    code(c, c->reads ? (__typeof__(*c->p->table)){0} : c->p->table[i]);                    \
    break;
static void code_row(coder *c, int tag, int i)
{
    switch (tag) {
    case SEC_TENSORS:
        ROW(code_tensor, tensor)
    case SEC_EXTENTS:
        ROW(code_extent, ext)
    case SEC_CHECKS:
        ROW(code_check, check)
    case SEC_CONSTANTS:
        ROW(code_constant, konst)
    case SEC_MERGES:
        ROW(code_merge, merge)
    case SEC_FUNCTIONS:
        ROW(code_function, fn)
    default: /* SEC_CODE */
        ROW(code_insn, code)
    }
}

static void code_section(coder *c, int tag)
{
    /* The fewest bytes a row can have, by tag. */
    static const uint8_t least[SEC_END] = {
        [SEC_TENSORS] = 24, [SEC_EXTENTS] = 13,   [SEC_CHECKS] = 17, [SEC_CONSTANTS] = 5,
        [SEC_MERGES] = 16,  [SEC_FUNCTIONS] = 16, [SEC_CODE] = 16};
    program *p = c->p;
    const int rows[SEC_END] = {
        [SEC_TENSORS] = p->ntensor,  [SEC_EXTENTS] = p->next,  [SEC_CHECKS] = p->ncheck,
        [SEC_CONSTANTS] = p->nconst, [SEC_MERGES] = p->nmerge, [SEC_FUNCTIONS] = p->nfn,
        [SEC_CODE] = p->ncode};
    if (tag == SEC_TEXT) {
        p->file = own_text(c, c->of ? NULL : p->file);
        p->source = own_text(c, c->of ? NULL : p->source);
        refuse_if(c, c->of && (p->file || p->source));
    } else if (tag == SEC_REGISTERS) {
        p->nv = code_registers(c, p->nv);
        p->ni = code_registers(c, p->ni);
        p->nm = code_registers(c, p->nm);
        p->nc = code_registers(c, p->nc);
    } else if (tag == SEC_LINES) {
        code_lines(c);
    } else if (tag == SEC_NOTATION) {
        code_notation(c);
    } else if (tag == SEC_PLANS) {
        code_plans(c);
    } else {
        const int n =
            count(c, rows[tag], least[tag], tag == SEC_CODE ? CODE_MAX : TABLE_MAX);
        if (c->reads && tag == SEC_CODE) c->status = program_reserve(p, n);
        for (int i = 0; i < n && !c->status && !c->bad; i++)
            code_row(c, tag, i);
    }
}

/* ---- files --------------------------------------------------------------------- */

static void poke(coder *c, int64_t at, uint64_t v)
{
    for (int i = 0; i < 8 && !c->status; i++)
        c->data[at + i] = (uint8_t)(v >> 8 * i);
}

/* The bytes of c->p and its plans; c is of no use then. */
static stc_status encode(coder *c, void **bytes, size_t *size)
{
    const int end = c->nplan ? SEC_END : c->p->notation ? SEC_PLANS : SEC_NOTATION;
    put(c, magic, sizeof magic);
    number(c, MAJOR, 2);
    number(c, c->nplan ? MINOR : MINOR_PLAIN, 2);
    number(c, (uint64_t)end - 1, 4);
    number(c, 0, 8); /* size and checksum follow */
    number(c, 0, 8);
    for (int tag = SEC_TEXT; tag < end; tag++) {
        number(c, (uint64_t)tag, 4);
        const int64_t at = c->len;
        number(c, 0, 8);
        code_section(c, tag);
        poke(c, at, (uint64_t)(c->len - at - 8));
    }
    poke(c, 16, (uint64_t)c->len);
    if (!c->status) poke(c, 24, checksum(c->data + HEADER, (size_t)c->len - HEADER));
    void *out = c->status ? NULL : mem_alloc(c->cx, (size_t)c->len);
    if (out) {
        memcpy(out, c->data, (size_t)c->len);
        *bytes = out;
        *size = (size_t)c->len;
    }
    mem_free(c->cx, c->data, (size_t)c->cap);
    return out ? STC_OK : c->cx->diag.status;
}

stc_status plans_encode(program *const *p, int n, void **bytes, size_t *size)
{
    program same = *p[0], *others[PLANS_MAX];
    coder c = {.cx = same.cx, .p = &same, .plan = others, .nplan = n - 1};
    memcpy(others, p + 1, (size_t)(n - 1) * sizeof *p);
    return encode(&c, bytes, size);
}

stc_status program_encode(const program *p, void **bytes, size_t *size)
{
    program same = *p;
    coder c = {.cx = p->cx, .p = &same};
    return encode(&c, bytes, size);
}

static stc_status corrupt(const coder *c, const char *why)
{
    if (c->of)
        return fail(c->cx, STC_ERR_CORRUPT,
                    "not a sound bytecode file: its plan %d for other data: %s", c->number,
                    why);
    return fail(c->cx, STC_ERR_CORRUPT, "not a sound bytecode file: %s", why);
}

static stc_status check_header(coder *c, const uint8_t *bytes, size_t size)
{
    if (size < HEADER || memcmp(bytes, magic, sizeof magic) != 0)
        return corrupt(c, "it doesn't begin with the magic number of .stb files");
    c->at += sizeof magic;
    c->left -= sizeof magic;
    const uint64_t major = get(c, 2), minor = get(c, 2);
    if (major != MAJOR)
        return fail(c->cx, STC_ERR_CORRUPT,
                    "bytecode of version %llu.%llu; this stcvm reads version %d",
                    (unsigned long long)major, (unsigned long long)minor, MAJOR);
    const uint64_t sections = get(c, 4);
    const uint64_t most = minor < MINOR ? SEC_NOTATION : SEC_PLANS;
    if (minor <= MINOR && (sections < SEC_LINES || sections > most))
        return corrupt(c, "it has an unknown number of sections");
    c->sections = minor <= MINOR ? sections : 0;
    if (get(c, 8) != size) return corrupt(c, "it isn't as long as it says");
    if (get(c, 8) != checksum(bytes + HEADER, size - HEADER))
        return corrupt(c, "its checksum is wrong");
    return STC_OK;
}

/* Sections in ascending order of their tags, each at most once. */
static stc_status get_sections(coder *c)
{
    uint64_t last = 0;
    while (c->left) {
        const uint64_t tag = get(c, 4), size = get(c, 8);
        if (c->bad || size > c->left) return corrupt(c, "a section is cut off");
        if (tag <= last) return corrupt(c, "its sections are out of order");
        last = tag;
        const uint8_t *const behind = c->at + size;
        const size_t rest = c->left - (size_t)size;
        c->left = (size_t)size;
        if (tag < SEC_END) {
            code_section(c, (int)tag);
            if (c->status) return c->status;
            if (c->bad) return corrupt(c, "a section holds what can't be");
            if (c->left) return corrupt(c, "a section is longer than its rows");
        }
        c->at = behind;
        c->left = rest;
    }
    if (c->sections && ((c->sections >= SEC_NOTATION) != c->p->notation ||
                        (c->sections == SEC_PLANS) != (c->nplan > 0)))
        return corrupt(c, "it has an unknown number of sections");
    return last >= SEC_CODE ? STC_OK : corrupt(c, "it has no code");
}

static void free_plans(const coder *c)
{
    for (int i = 0; i < c->nplan; i++)
        program_free(c->plan[i]);
}

/* c->p, and its plans; none of them after an error. */
static stc_status decode(coder *c, const void *bytes, size_t size)
{
    c->reads = true;
    c->at = bytes;
    c->left = size;
    if (check_header(c, bytes, size)) return c->cx->diag.status;
    c->p = program_new(c->cx);
    if (!c->p) return c->cx->diag.status;
    c->p->foreign = true;
    arena_init(&c->scratch, c->cx);
    const stc_status status = get_sections(c);
    arena_free(&c->scratch);
    if (status) {
        free_plans(c);
        program_free(c->p);
    } else if (c->of) {
        c->p->file = c->of->file;
        c->p->source = c->of->source;
    }
    return status;
}

stc_status plans_decode(ctx *cx, const void *bytes, size_t size, program **p, int *n)
{
    coder c = {.cx = cx, .plan = p + 1};
    const stc_status status = decode(&c, bytes, size);
    if (status) return status;
    p[0] = c.p;
    *n = 1 + c.nplan;
    return STC_OK;
}

stc_status program_decode(ctx *cx, const void *bytes, size_t size, program **out)
{
    program *others[PLANS_MAX];
    coder c = {.cx = cx, .plan = others};
    const stc_status status = decode(&c, bytes, size);
    if (status) return status;
    free_plans(&c);
    *out = c.p;
    return STC_OK;
}

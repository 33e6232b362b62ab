/* disasm.c: a program as text.
 *
 * Takes any program whose tables are sane (verified or not), and gives text
 * that asm.c turns back into the same program, row for row, debug lines and
 * source included.
 */
#include "policies.h"
#include "text.h"
#include <string.h>

const char *const role_words[] = {"input", "output", "inout", "temp", "work", NULL};
const char *const ext_words[] = {"const", "dim",  "add", "mulc", "addc", "floordiv",
                                 "min",   "max0", "mul", "span", NULL};
const char *const ext_operands[] = {"k", "tm", "ee", "ek", "ek", "ek", "ee", "e", "ee", ""};
const char *const merge_words[] = {"walk", "follow", "locate", "known", NULL};
const char *const flag_words[] = {"nonunique", "unordered",   "index32",
                                  "index64",   "interleaved", NULL};
const char *const said_words[] = {"format", "type", "fill", NULL};

const op_row op_rows[] = {
#define OP(NAME, text, operands, effect) {text, operands, effect},
#include "opcodes.def"
};

char operand_prefix(char letter)
{
    static const char letters[] = "VvIiMmXCcQTRWEKGU", prefixes[] = "vviimmmccctttekgf";
    const char *at = strchr(letters, letter);
    return at ? prefixes[at - letters] : 0;
}

/* Text between quotes, with escapes. */
static void quoted_print(const char *s, textbuf *out)
{
    text_add(out, "\"");
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\') {
            text_add(out, "\\%c", c);
        } else if (c == '\n') {
            text_add(out, "\\n");
        } else if (!char_shown(s)) {
            text_add(out, "\\x%02x", c);
        } else {
            const int n = char_shown(s);
            text_add(out, "%.*s", n, s);
            s += n - 1;
        }
    }
    text_add(out, "\"");
}

/* ---- values and formats -------------------------------------------------------- */

static void value_print(vclass cls, value v, textbuf *out)
{
    uint64_t bits[2] = {0};
    uint32_t half[2] = {0};
    switch (cls) {
    case CLASS_I64:
        text_add(out, "%lld", (long long)v.i64);
        return;
    case CLASS_U64:
        text_add(out, "%llu", (unsigned long long)v.u64);
        return;
    case CLASS_F32:
    case CLASS_C64:
        memcpy(half, &v, cls == CLASS_F32 ? 4 : 8);
        text_add(out, "0x%08x", half[0]);
        if (cls == CLASS_C64) text_add(out, " 0x%08x", half[1]);
        return;
    default:
        memcpy(bits, &v, cls == CLASS_F64 ? 8 : 16);
        text_add(out, "0x%016llx", (unsigned long long)bits[0]);
        if (cls == CLASS_C128) text_add(out, " 0x%016llx", (unsigned long long)bits[1]);
    }
}

/* The same for people, as a comment; integers need none. */
static void value_comment(stc_type t, vclass cls, value v, textbuf *out)
{
    if (cls == CLASS_I64 || cls == CLASS_U64) return;
    char buf[80];
    type_print(t, v, buf, sizeof buf);
    text_add(out, " ; %s", buf);
}

static void map_print(const level_map *m, textbuf *out)
{
    switch ((map_op)m->op) {
    case MAP_MODE:
        text_add(out, "(%d)", m->mode);
        break;
    case MAP_PART:
        text_add(out, "(%d", m->mode);
        if (m->k != 1 || !m->n) text_add(out, "/%lld", (long long)m->k);
        if (m->n) text_add(out, "%%%lld", (long long)m->n);
        text_add(out, ")");
        break;
    case MAP_DIFF:
        text_add(out, "(%d-%d)", m->mode, m->mode2);
        break;
    case MAP_COUNT:
        text_add(out, "(#%d)", m->mode);
        break;
    default: /* MAP_FLAT */
        text_add(out, "(%d..%d)", m->mode, m->modes);
        break;
    }
}

static void format_rows(const format *f, textbuf *out)
{
    text_add(out, "format %d", f->order);
    for (int l = 0; l < f->levels; l++) {
        const level_spec *s = &f->level[l];
        text_add(out, " %s", s->kind->name);
        if (s->number) text_add(out, ":%lld", (long long)s->number);
        map_print(&s->map, out);
        for (int b = 0; flag_words[b]; b++)
            if (s->flags >> b & 1) text_add(out, " %s", flag_words[b]);
    }
}

static void ref_print(char letter, int x, textbuf *out)
{
    if (x == ROOT) {
        text_add(out, "root");
    } else {
        text_add(out, "%c%d", letter, x);
    }
}

/* ---- tables -------------------------------------------------------------------- */

static void tensor_print(const prog_tensor *t, int id, textbuf *out)
{
    vclass cls = type_class(t->type);
    text_add(out, ".tensor t%d ", id);
    quoted_print(t->name, out);
    text_add(out, " %s %s (", role_words[t->role], type_name(t->type));
    value_print(cls, t->fill, out);
    text_add(out, ")%s", t->fill_later ? " later" : "");
    if (t->role != ROLE_INPUT) {
        text_add(out, " [");
        for (int m = 0; m < t->order; m++)
            text_add(out, "%se%d", m ? " " : "", t->shape[m]);
        text_add(out, "]");
    }
    if (t->policy || t->capacity)
        text_add(out, " policy %s %lld", policy_name(out->cx, t->policy),
                 (long long)t->capacity);
    if (t->single) text_add(out, " single");
    if (t->keep_while) text_add(out, " while t%d", t->source);
    text_add(out, " ");
    format_rows(&t->fmt, out);
    char buf[256];
    if (format_valid(&t->fmt, buf, sizeof buf)) {
        text_add(out, " ; ");
        format_print(&t->fmt, out);
    }
    if (cls != CLASS_I64 && cls != CLASS_U64) {
        type_print(t->type, t->fill, buf, sizeof buf);
        text_add(out, "; fill %s", buf);
    }
    text_add(out, "\n");
}

static void extent_print(const extent *e, int id, textbuf *out)
{
    text_add(out, ".extent e%d %s", id, ext_words[e->op]);
    for (const char *l = ext_operands[e->op]; *l; l++) {
        const int x = l == ext_operands[e->op] ? e->a : e->b;
        if (*l == 'k') text_add(out, " %lld", (long long)e->k);
        if (*l == 'm') text_add(out, " %d", x);
        if (*l == 't' || *l == 'e') text_add(out, " %c%d", *l, x);
    }
    text_add(out, "\n");
}

static void operand_print(const merge_operand *o, textbuf *out)
{
    text_add(out, " %s ", merge_words[o->role]);
    ref_print('c', o->cursor, out);
    if (o->role != MERGE_LOCATE) return;
    text_add(out, " t%d %d ", o->tensor, o->level);
    ref_print('c', o->up, out);
    text_add(out, " ");
    ref_print('i', o->shift, out);
    text_add(out, " %lld", (long long)o->coef);
}

static void postfix_print(const merge_desc *m, textbuf *out)
{
    static const char *const words[] = {"and", "or", "not", "true", "false"};
    text_add(out, " postfix (");
    for (int k = 0; k < m->postfix_len; k++) {
        if (k) text_add(out, " ");
        if (m->postfix[k] < 64) {
            text_add(out, "%d", m->postfix[k]);
        } else {
            text_add(out, "%s", words[m->postfix[k] - 64]);
        }
    }
    text_add(out, ")");
}

static void merge_print(const merge_desc *m, int id, textbuf *out)
{
    text_add(out, ".merge g%d lo ", id);
    ref_print('e', m->lo, out);
    text_add(out, " hi e%d%s", m->hi, m->universe ? " universe" : "");
    if (m->count <= MERGE_TABLE_MAX) {
        text_add(out, " produce 0x%llx", (unsigned long long)m->produce);
    } else {
        postfix_print(m, out);
    }
    text_add(out, " {");
    for (int k = 0; k < m->count; k++) {
        if (k) text_add(out, ",");
        operand_print(&m->operand[k], out);
    }
    text_add(out, " }\n");
}

static void fn_print(const user_fn *f, int id, textbuf *out)
{
    text_add(out, ".fn f%d ", id);
    quoted_print(f->name, out);
    text_add(out, " (");
    for (int k = 0; k < f->params; k++)
        text_add(out, "%s%s", k ? " " : "", class_name(f->cls[k]));
    text_add(out, ") %s %sregisters %d code %u:%u\n", class_name(f->result),
             f->host ? "host " : "", f->nv, (unsigned)f->begin, (unsigned)f->end);
}

static void notation_print(const program *p, textbuf *out)
{
    text_add(out, ".notation 0x%llx {", (unsigned long long)p->like);
    const char *comma = " ";
    for (int i = 0; i < p->ntensor; i++) {
        if (!p->tensor[i].declared) continue;
        text_add(out, "%st%d", comma, i);
        for (int b = 0; said_words[b]; b++)
            if (p->tensor[i].declared >> b & SAID_FORMAT)
                text_add(out, " %s", said_words[b]);
        comma = ", ";
    }
    text_add(out, " }\n");
}

void tables_print(const program *p, textbuf *out)
{
    if (p->file) {
        text_add(out, ".file ");
        quoted_print(p->file, out);
        text_add(out, "\n");
    }
    if (p->source) {
        text_add(out, ".source ");
        quoted_print(p->source, out);
        text_add(out, "\n");
    }
    text_add(out, ".registers v %d i %d m %d c %d\n", p->nv, p->ni, p->nm, p->nc);
    for (int i = 0; i < p->ntensor; i++)
        tensor_print(&p->tensor[i], i, out);
    if (p->notation) notation_print(p, out);
    for (int i = 0; i < p->next; i++)
        extent_print(&p->ext[i], i, out);
    for (int i = 0; i < p->ncheck; i++) {
        const ext_check *c = &p->check[i];
        text_add(out, ".check e%d %s e%d @%d:%d ", c->a, c->rel == REL_EQ ? "eq" : "le",
                 c->b, c->at.begin, c->at.end);
        quoted_print(c->text, out);
        text_add(out, "\n");
    }
    for (int i = 0; i < p->nconst; i++) {
        vclass cls = p->konst[i].cls;
        text_add(out, ".const k%d %s ", i, class_name(cls));
        value_print(cls, p->konst[i].v, out);
        value_comment(class_type(cls), cls, p->konst[i].v, out);
        text_add(out, "\n");
    }
    for (int i = 0; i < p->nmerge; i++)
        merge_print(&p->merge[i], i, out);
    for (int i = 0; i < p->nfn; i++)
        fn_print(&p->fn[i], i, out);
}

/* ---- code ---------------------------------------------------------------------- */

static void operand(char letter, int x, textbuf *out)
{
    const char prefix = operand_prefix(letter);
    if (prefix_of_registers(prefix)) {
        ref_print(prefix, x, out);
    } else if (prefix) {
        text_add(out, "%c%d", prefix, x);
    } else if (letter == 'F') {
        text_add(out, "%s", x < FN_COUNT ? fn_at(x)->name : "?");
    } else if (letter == 'Y') {
        text_add(out, "%s", x < CLASS_COUNT ? class_name((vclass)x) : "?");
    } else if (letter == 'Z') {
        text_add(out, "%s", x < TYPE_COUNT ? type_name((stc_type)x) : "?");
    } else {
        text_add(out, "%d", x);
    }
}

void insn_print(const insn *in, textbuf *out)
{
    const op_row *row = op_at(in->op);
    if (!row) {
        text_add(out, "; opcode %d", in->op);
        return;
    }
    if (!row->operands[0]) {
        text_add(out, "%s", row->text);
        return;
    }
    text_add(out, "%-10s ", row->text);
    for (int k = 0; row->operands[k]; k++) {
        if (k) text_add(out, ", ");
        operand(row->operands[k], in->arg[k], out);
    }
}

/* The names of the tensors that an instruction has to do with. */
static void names_print(const program *p, const insn *in, textbuf *out)
{
    const char *letters = op_at(in->op) ? op_at(in->op)->operands : "";
    bool any = false;
    for (int k = 0; letters[k]; k++) {
        if (!strchr("TRW", letters[k]) || in->arg[k] >= p->ntensor) continue;
        const char *name = p->tensor[in->arg[k]].name;
        if (!name[0] || strchr(name, '\n')) continue;
        text_add(out, "%s%s", any ? ", " : " ; ", name);
        any = true;
    }
}

void code_print(const program *p, textbuf *out, line_note note, void *context)
{
    int depth = 1;
    text_add(out, ".code\n");
    for (int pc = 0; pc < p->ncode; pc++) {
        const insn *in = &p->code[pc];
        if (note) note(context, pc, out);
        if (op_closes(in->op) && depth > 1) depth--;
        int indent = depth - (in->op == OP_ELSE && depth > 1);
        text_add(out, "%*s", 2 * (indent > 40 ? 40 : indent), "");
        insn_print(in, out);
        if (p->at[pc].begin || p->at[pc].end)
            text_add(out, " @%d:%d", p->at[pc].begin, p->at[pc].end);
        names_print(p, in, out);
        text_add(out, "\n");
        if (op_opens(in->op)) depth++;
    }
}

stc_status program_dump(const program *p, textbuf *out)
{
    tables_print(p, out);
    code_print(p, out, NULL, NULL);
    return out->failed ? p->cx->diag.status : STC_OK;
}

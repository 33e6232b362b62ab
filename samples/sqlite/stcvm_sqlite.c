/* stcvm_sqlite.c: a SQLite extension: index notation in SQL.
 *
 *     .load ./stcvm_sqlite
 *     SELECT row, col, value FROM stc('C(i,j) = A(i,k) * A(k,j)', 'A', 'edges');
 *
 * The table-valued function `stc(statement [, name, source]…)` takes up to eight operands. A
 * source is a table or a query, whose columns are coordinates but for the last, the value; or
 * a number, also as a parameter `?`. A name may be followed by words of a declaration:
 * 'A fill inf', 'A coo'. The result's entries are rows: the columns row and col, m2 to m5 of
 * more modes (to be asked for by name), NULL beyond the result's order, and value; integers are
 * integers.
 *
 * Coordinates are numbers from 0, and all modes of all operands have one size; or, where any is
 * text, NULL, negative, no integer, or much larger than there are entries, all go by a dictionary,
 * and come back as what they were.
 * Rows without a value are left out.
 */
#include <sqlite3ext.h>
#include <stcvm.h>
#include <stdlib.h>
#include <string.h>
SQLITE_EXTENSION_INIT1

enum { OPERANDS = 8, ARGUMENTS = 1 + 2 * OPERANDS, FIRST = 3, MODES = 6 };

typedef struct table {
    sqlite3_vtab base;
    sqlite3 *db;
} table;

/* Identifiers in order of appearance, found by hash. */
typedef struct dictionary {
    bool used;
    sqlite3_value **id;
    int64_t *slot; /* 1 + its number, by hash; a power of two of them */
    int64_t count, room;
} dictionary;

/* What was read of an operand. */
typedef struct operand {
    int order;
    int64_t count, room, most; /* most: the largest coordinate */
    int64_t *coord[MODES];
    double *real;
    int64_t *whole;
    bool all_whole;
} operand;

typedef struct entry {
    int64_t coord[MODES];
    stc_value value;
} entry;

typedef struct cursor {
    sqlite3_vtab_cursor base;
    int order;
    stc_type type;
    entry *entry;
    int64_t count, room, at;
    dictionary ids;
} cursor;

static int connect_table(sqlite3 *db, void *aux, int argc, const char *const *argv,
                         sqlite3_vtab **out, char **error)
{
    (void)aux, (void)argc, (void)argv, (void)error;
    int rc = sqlite3_declare_vtab(
        db, "CREATE TABLE x(row, col, value, s HIDDEN, n0 HIDDEN, t0 HIDDEN, n1 HIDDEN, "
            "t1 HIDDEN, n2 HIDDEN, t2 HIDDEN, n3 HIDDEN, t3 HIDDEN, n4 HIDDEN, t4 HIDDEN, "
            "n5 HIDDEN, t5 HIDDEN, n6 HIDDEN, t6 HIDDEN, n7 HIDDEN, t7 HIDDEN, m2 HIDDEN, "
            "m3 HIDDEN, m4 HIDDEN, m5 HIDDEN)");
    if (rc != SQLITE_OK) return rc;
    table *t = sqlite3_malloc(sizeof *t);
    if (!t) return SQLITE_NOMEM;
    memset(t, 0, sizeof *t);
    t->db = db;
    *out = &t->base;
    return SQLITE_OK;
}

static int disconnect_table(sqlite3_vtab *base)
{
    sqlite3_free(base);
    return SQLITE_OK;
}

/* Hands all hidden columns that are given to `filter`, in their order. */
static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    int at[ARGUMENTS], given = 0;
    (void)base;
    for (int k = 0; k < ARGUMENTS; k++)
        at[k] = -1;
    for (int k = 0; k < info->nConstraint; k++) {
        const int c = info->aConstraint[k].iColumn - FIRST;
        if (c < 0 || c >= ARGUMENTS || info->aConstraint[k].op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
        if (!info->aConstraint[k].usable) return SQLITE_CONSTRAINT;
        at[c] = k;
    }
    for (int c = 0; c < ARGUMENTS && at[c] >= 0; c++) {
        info->aConstraintUsage[at[c]].argvIndex = ++given;
        info->aConstraintUsage[at[c]].omit = 1;
    }
    info->estimatedCost = 1000;
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
    (void)base;
    cursor *c = sqlite3_malloc(sizeof *c);
    if (!c) return SQLITE_NOMEM;
    memset(c, 0, sizeof *c);
    *out = &c->base;
    return SQLITE_OK;
}

static void forget(dictionary *d)
{
    for (int64_t k = 0; k < d->count; k++)
        sqlite3_value_free(d->id[k]);
    free(d->id);
    free(d->slot);
    *d = (dictionary){0};
}

static void empty(cursor *c)
{
    free(c->entry);
    forget(&c->ids);
    c->entry = NULL;
    c->count = c->room = c->at = 0;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    empty((cursor *)base);
    sqlite3_free(base);
    return SQLITE_OK;
}

/* ---- identifiers ------------------------------------------------------------------------ */

static bool same(sqlite3_value *a, sqlite3_value *b)
{
    const int type = sqlite3_value_type(a);
    if (type != sqlite3_value_type(b)) return false;
    if (type == SQLITE_INTEGER) return sqlite3_value_int64(a) == sqlite3_value_int64(b);
    if (type == SQLITE_NULL) return true;
    if (type == SQLITE_FLOAT) return sqlite3_value_double(a) == sqlite3_value_double(b);
    const int n = sqlite3_value_bytes(a);
    return n == sqlite3_value_bytes(b) &&
           memcmp(sqlite3_value_blob(a), sqlite3_value_blob(b), (size_t)n) == 0;
}

static uint64_t hash(sqlite3_value *a)
{
    uint64_t h = 0xcbf29ce484222325u;
    const int type = sqlite3_value_type(a);
    if (type == SQLITE_INTEGER) h ^= (uint64_t)sqlite3_value_int64(a);
    if (type == SQLITE_FLOAT) {
        const double x = sqlite3_value_double(a);
        uint64_t bits;
        memcpy(&bits, &x, sizeof bits);
        h ^= x != 0 ? bits : 0;
    }
    if (type == SQLITE_TEXT || type == SQLITE_BLOB) {
        const unsigned char *at = sqlite3_value_blob(a);
        for (int k = 0; k < sqlite3_value_bytes(a); k++)
            h = (h ^ at[k]) * 0x100000001b3u;
    }
    h *= 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

static bool widen(dictionary *d)
{
    const int64_t room = d->room ? 2 * d->room : 1024;
    int64_t *slot = calloc((size_t)room * 2, sizeof *slot);
    void *id = realloc(d->id, (size_t)room * sizeof *d->id);
    if (id) d->id = id;
    if (!slot || !id) {
        free(slot);
        return false;
    }
    for (int64_t k = 0; k < d->count; k++) {
        int64_t at = (int64_t)(hash(d->id[k]) & (uint64_t)(2 * room - 1));
        while (slot[at])
            at = (at + 1) & (2 * room - 1);
        slot[at] = 1 + k;
    }
    free(d->slot);
    d->slot = slot;
    d->room = room;
    return true;
}

/* Its number; -1: there is no memory. */
static int64_t number_of(dictionary *d, sqlite3_value *v)
{
    if (d->count == d->room && !widen(d)) return -1;
    int64_t at = (int64_t)(hash(v) & (uint64_t)(2 * d->room - 1));
    for (; d->slot[at]; at = (at + 1) & (2 * d->room - 1))
        if (same(d->id[d->slot[at] - 1], v)) return d->slot[at] - 1;
    if (!(d->id[d->count] = sqlite3_value_dup(v))) return -1;
    d->slot[at] = ++d->count;
    return d->count - 1;
}

/* ---- operands --------------------------------------------------------------------------- */

static void drop(operand *o)
{
    for (int k = 0; k < MODES; k++)
        free(o->coord[k]);
    free(o->real);
    free(o->whole);
    *o = (operand){0};
}

static bool enlarge(operand *o)
{
    const size_t room = (size_t)(o->room ? 2 * o->room : 1024) * 8;
    void *real = realloc(o->real, room), *whole = realloc(o->whole, room);
    bool good = real && whole;
    if (real) o->real = real;
    if (whole) o->whole = whole;
    for (int k = 0; k < o->order; k++) {
        void *coord = realloc(o->coord[k], room);
        if (coord) o->coord[k] = coord;
        good &= coord != NULL;
    }
    if (good) o->room = (int64_t)(room / 8);
    return good;
}

enum { READ, AGAIN, FAILED }; /* AGAIN: with the dictionary */

static int read_row(operand *o, sqlite3_stmt *q, dictionary *ids, char **why)
{
    sqlite3_value *v = sqlite3_column_value(q, o->order);
    const int type = sqlite3_value_type(v);
    if (type == SQLITE_NULL) return READ;
    if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) {
        *why = sqlite3_mprintf("the value %Q is no number", sqlite3_value_text(v));
        return FAILED;
    }
    if (o->count == o->room && !enlarge(o)) return FAILED;
    o->all_whole &= type == SQLITE_INTEGER;
    o->real[o->count] = sqlite3_value_double(v);
    o->whole[o->count] = sqlite3_value_int64(v);
    for (int k = 0; k < o->order; k++) {
        sqlite3_value *id = sqlite3_column_value(q, k);
        int64_t i = sqlite3_value_int64(id);
        if (ids->used) {
            if ((i = number_of(ids, id)) < 0) return FAILED;
        } else if (sqlite3_value_type(id) != SQLITE_INTEGER || i < 0 || i >> 60) {
            return AGAIN;
        }
        o->coord[k][o->count] = i;
        if (i > o->most) o->most = i;
    }
    o->count++;
    return READ;
}

/* A table, or a query: what begins with a parenthesis, SELECT, WITH or VALUES. */
static char *query_of(const char *from)
{
    static const char *const words[] = {"select", "with", "values", "("};
    const char *at = from + strspn(from, " \t\r\n");
    for (int k = 0; k < 4; k++) {
        const size_t n = strlen(words[k]);
        const unsigned char next = strlen(at) > n ? (unsigned char)at[n] : 0;
        if (sqlite3_strnicmp(at, words[k], (int)n) == 0 &&
            (k == 3 || (next && strchr(" \t\r\n(", next))))
            return k == 3 ? sqlite3_mprintf("SELECT * FROM %s", at)
                          : sqlite3_mprintf("%s", at);
    }
    return sqlite3_mprintf("SELECT * FROM \"%w\"", from);
}

static int read_operand(sqlite3 *db, const char *from, operand *o, dictionary *ids,
                        char **why)
{
    sqlite3_stmt *q = NULL;
    char *sql = query_of(from);
    const int rc = sql ? sqlite3_prepare_v2(db, sql, -1, &q, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    *o = (operand){.all_whole = true, .most = -1};
    if (rc != SQLITE_OK || !q) {
        *why = sqlite3_mprintf("%s", rc ? sqlite3_errmsg(db) : "an empty query");
        return FAILED;
    }
    o->order = sqlite3_column_count(q) - 1;
    int how = READ, step = SQLITE_DONE;
    if (o->order < 1 || o->order > MODES) {
        *why = sqlite3_mprintf("one to %d columns of coordinates and one of values are "
                               "needed, and there are %d columns", MODES, o->order + 1);
        o->order = 0;
        how = FAILED;
    }
    while (how == READ && (step = sqlite3_step(q)) == SQLITE_ROW)
        how = read_row(o, q, ids, why);
    if (how == READ && step != SQLITE_DONE) {
        *why = sqlite3_mprintf("%s", sqlite3_errmsg(db));
        how = FAILED;
    }
    sqlite3_finalize(q);
    return how;
}

/* ---- the statement ---------------------------------------------------------------------- */

/* "A coo fill inf": a declaration, whose tensor then takes the entries. */
static stc_status declare(stc_machine *m, stc_session *s, const char *words,
                          const operand *o, int64_t size)
{
    static const char *const formats[] = {"svec", "dcsr", "csf", "csf", "csf", "csf"};
    const size_t n = strcspn(words, " \t");
    const char *more = words + n + strspn(words + n, " \t");
    int64_t shape[MODES];
    stc_value fill;
    const stc_tensor *like;
    const bool format = *more && strncmp(more, "fill", 4) != 0;
    const char *own = o->order == 2 && size < 4 * o->count + 1000 ? "csr"
                                                                  : formats[o->order - 1];
    char *text = sqlite3_mprintf("tensor %.*s %s %s", (int)n, words, format ? "" : own, more);
    sqlite3_str *sizes = sqlite3_str_new(NULL);
    for (int k = 0; k < o->order; k++) {
        shape[k] = size;
        sqlite3_str_appendf(sizes, "%s%lld", k ? "," : "", size);
    }
    char *list = sqlite3_str_finish(sizes);
    const char *at = strstr(text, "fill"); /* FORMAT TYPE [SHAPE] fill … */
    const int head = at ? (int)(at - text) : (int)strlen(text);
    char *whole = sqlite3_mprintf("%.*s %s [%s] %s = {}", head, text,
                                  o->all_whole && !at ? "i64" : "f64", list, at ? at : "");
    char *name = sqlite3_mprintf("%.*s", (int)n, words);
    stc_builder *b = NULL;
    stc_tensor *t = NULL;
    stc_status st = stc_session_exec(s, whole, "stc");
    if (!st) st = stc_session_get(s, name, &like);
    if (!st) {
        fill = stc_tensor_fill(like);
        st = stc_builder_open(m, stc_tensor_format(like), stc_tensor_type(like), o->order,
                              shape, &fill, NULL, &b);
        const bool whole_numbers = stc_tensor_type(like) == STC_I64;
        if (!st)
            st = stc_builder_put_block(b, o->count, 8, (const void *const *)o->coord,
                                       whole_numbers ? (void *)o->whole : (void *)o->real);
        if (!st) st = stc_builder_finish(b, &t);
        if (!st && (st = stc_session_put(s, name, t))) stc_tensor_free(t);
    }
    stc_builder_free(b);
    sqlite3_free(list);
    sqlite3_free(text);
    sqlite3_free(whole);
    sqlite3_free(name);
    return st;
}

static stc_status put_number(stc_session *s, const char *name, sqlite3_value *v)
{
    const bool whole = sqlite3_value_type(v) == SQLITE_INTEGER;
    char *text = whole ? sqlite3_mprintf("%s = %lld", name, sqlite3_value_int64(v))
                       : sqlite3_mprintf("%s = %!.17g", name, sqlite3_value_double(v));
    const stc_status st = stc_session_exec(s, text ? text : "", "stc");
    sqlite3_free(text);
    return st;
}

static int keep_entry(void *context, const int64_t *coords, stc_value value)
{
    cursor *c = context;
    if (c->count == c->room) {
        c->room = 2 * c->room + 64;
        void *grown = realloc(c->entry, (size_t)c->room * sizeof *c->entry);
        if (!grown) return 1;
        c->entry = grown;
    }
    for (int k = 0; k < c->order; k++)
        c->entry[c->count].coord[k] = coords[k];
    c->entry[c->count++].value = value;
    return 0;
}

/* The statement, its operands being in the session. */
static stc_status evaluate(cursor *c, stc_session *s, const char *text, char **why)
{
    const stc_tensor *t;
    stc_status st = stc_session_exec(s, text, "stc");
    const char *last = st ? NULL : stc_session_last(s);
    if (!st && !last) *why = sqlite3_mprintf("the statement assigns nothing");
    if (!st && last) st = stc_session_get(s, last, &t);
    if (st || *why) return st;
    c->order = stc_tensor_order(t);
    c->type = stc_tensor_type(t);
    if (c->order > MODES || c->type == STC_C64 || c->type == STC_C128) {
        *why = sqlite3_mprintf("a result of order %d of %s has no place in a table",
                               c->order, stc_type_name(c->type));
        return STC_OK;
    }
    return stc_tensor_visit(t, keep_entry, c);
}

static bool is_number(sqlite3_value *v)
{
    return sqlite3_value_type(v) == SQLITE_INTEGER || sqlite3_value_type(v) == SQLITE_FLOAT;
}

/* Numbers far beyond those that are used would make results as large. */
static bool scattered(const operand *o)
{
    int64_t used = 1 << 20, most = 0;
    for (int k = 0; k < OPERANDS; k++) {
        if (!o[k].order) continue;
        used += 16 * o[k].count;
        if (o[k].most > most) most = o[k].most;
    }
    return most > used;
}

/* All tables, once more with the dictionary if any has no plain numbers. */
static int read_all(cursor *c, sqlite3 *db, int argc, sqlite3_value **argv, operand *o,
                    char **why)
{
    int how;
    do {
        how = READ;
        for (int k = 1; how == READ && k + 1 < argc; k += 2) {
            const char *name = (const char *)sqlite3_value_text(argv[k]);
            const char *from = (const char *)sqlite3_value_text(argv[k + 1]);
            if (name && is_number(argv[k + 1])) continue;
            char *said = NULL;
            how = name && from ? read_operand(db, from, &o[k / 2], &c->ids, &said) : FAILED;
            if (how == FAILED)
                *why = sqlite3_mprintf("%s: %s", name ? name : "operand",
                                       said ? said : name && from ? "there is no memory"
                                                                  : "a NULL was given");
            sqlite3_free(said);
        }
        if (how == READ && !c->ids.used && scattered(o)) how = AGAIN;
        for (int k = 0; k < OPERANDS && how != READ; k++)
            drop(&o[k]);
        if (how == AGAIN) c->ids.used = true;
    } while (how == AGAIN);
    return how;
}

static stc_status compute(cursor *c, stc_machine *m, int argc, sqlite3_value **argv,
                          const operand *o, char **why)
{
    stc_session *s;
    int64_t size = c->ids.count;
    stc_status st = stc_session_open(m, &s);
    for (int k = 0; k < OPERANDS; k++)
        if (!c->ids.used && o[k].order && o[k].most >= size) size = o[k].most + 1;
    for (int k = 1; !st && k + 1 < argc; k += 2) {
        const char *name = (const char *)sqlite3_value_text(argv[k]);
        st = is_number(argv[k + 1]) ? put_number(s, name, argv[k + 1])
                                    : declare(m, s, name, &o[k / 2], size);
    }
    return st ? st : evaluate(c, s, (const char *)sqlite3_value_text(argv[0]), why);
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *text, int argc,
                  sqlite3_value **argv)
{
    cursor *c = (cursor *)base;
    table *t = (table *)base->pVtab;
    operand o[OPERANDS] = {{0}};
    char *why = NULL;
    stc_machine *m;
    (void)number, (void)text;
    empty(c);
    if (argc < 1 || argc % 2 == 0 || !sqlite3_value_text(argv[0])) {
        t->base.zErrMsg = sqlite3_mprintf("stc(statement [, name, source]...)");
        return SQLITE_ERROR;
    }
    if (stc_open(&(stc_config){.max_memory = (uint64_t)4 << 30, .no_files = true}, &m))
        return SQLITE_NOMEM;
    if (read_all(c, t->db, argc, argv, o, &why) == READ &&
        compute(c, m, argc, argv, o, &why) && !why) {
        const stc_error_info *e = stc_error(m);
        why = sqlite3_mprintf("%s:%d:%d: %s", e->file, e->line, e->column, e->message);
    }
    for (int k = 0; k < OPERANDS; k++)
        drop(&o[k]);
    stc_close(m);
    sqlite3_free(t->base.zErrMsg);
    t->base.zErrMsg = why;
    return why ? SQLITE_ERROR : SQLITE_OK;
}

static int next_row(sqlite3_vtab_cursor *base)
{
    ((cursor *)base)->at++;
    return SQLITE_OK;
}

static int at_end(sqlite3_vtab_cursor *base)
{
    const cursor *c = (cursor *)base;
    return c->at >= c->count;
}

static void show_value(sqlite3_context *out, stc_type type, stc_value v)
{
    const bool real = type == STC_F32 || type == STC_F64;
    if (real || (type == STC_U64 && v.u > INT64_MAX))
        sqlite3_result_double(out, real ? v.f : (double)v.u);
    else
        sqlite3_result_int64(out, v.i);
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *out, int k)
{
    const cursor *c = (cursor *)base;
    const entry *e = &c->entry[c->at];
    const int mode = k < 2 ? k : k - (FIRST + ARGUMENTS) + 2;
    if (k == 2) {
        show_value(out, c->type, e->value);
    } else if ((k < 2 || k >= FIRST + ARGUMENTS) && mode < c->order) {
        const int64_t i = e->coord[mode];
        if (c->ids.used && i < c->ids.count)
            sqlite3_result_value(out, c->ids.id[i]);
        else
            sqlite3_result_int64(out, i);
    }
    return SQLITE_OK;
}

static int row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
    *out = ((cursor *)base)->at;
    return SQLITE_OK;
}

static const sqlite3_module module = {
    .xConnect = connect_table,
    .xDisconnect = disconnect_table,
    .xBestIndex = best_index,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = filter,
    .xNext = next_row,
    .xEof = at_end,
    .xColumn = column,
    .xRowid = row_id,
};

int sqlite3_stcvmsqlite_init(sqlite3 *db, char **error, const sqlite3_api_routines *api)
{
    (void)error;
    SQLITE_EXTENSION_INIT2(api)
    return sqlite3_create_module(db, "stc", &module, NULL);
}

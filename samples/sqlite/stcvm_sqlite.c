/* stcvm_sqlite.c: a SQLite extension: index notation in SQL.
 *
 *     .load ./stcvm_sqlite
 *     SELECT row, col, value FROM stc('C(i,j) = A(i,k) * A(k,j)', 'A', 'edges');
 *
 * The table-valued function `stc(statement [, name, table]…)` takes up to four
 * tensors from tables, whose columns are coordinates but for the last, the
 * value, and gives the result's entries, one a row: the columns row and col
 * (NULL beyond the result's order), and value.
 */
#include <sqlite3ext.h>
#include <stcvm.h>
#include <stdlib.h>
#include <string.h>
SQLITE_EXTENSION_INIT1

enum { TENSORS = 4, ARGUMENTS = 1 + 2 * TENSORS, FIRST = 3 /* hidden columns */ };

typedef struct table {
    sqlite3_vtab base;
    sqlite3 *db;
} table;

typedef struct cursor {
    sqlite3_vtab_cursor base;
    int order;
    int64_t (*coord)[2];
    double *value;
    int64_t count, room, at;
} cursor;

static int connect_table(sqlite3 *db, void *aux, int argc, const char *const *argv,
                         sqlite3_vtab **out, char **error)
{
    (void)aux, (void)argc, (void)argv, (void)error;
    int rc = sqlite3_declare_vtab(
        db, "CREATE TABLE x(row, col, value, s HIDDEN, n0 HIDDEN, t0 HIDDEN, n1 HIDDEN, "
            "t1 HIDDEN, n2 HIDDEN, t2 HIDDEN, n3 HIDDEN, t3 HIDDEN)");
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
        if (c < 0 || info->aConstraint[k].op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
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

static void empty(cursor *c)
{
    free(c->coord);
    free(c->value);
    c->coord = NULL;
    c->value = NULL;
    c->count = c->room = c->at = 0;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    empty((cursor *)base);
    sqlite3_free(base);
    return SQLITE_OK;
}

static int keep_entry(void *context, const int64_t *coords, stc_value value)
{
    cursor *c = context;
    if (c->count == c->room) {
        c->room = 2 * c->room + 64;
        void *coord = realloc(c->coord, (size_t)c->room * sizeof *c->coord);
        if (coord) c->coord = coord;
        void *values = realloc(c->value, (size_t)c->room * sizeof *c->value);
        if (values) c->value = values;
        if (!coord || !values) return 1;
    }
    for (int k = 0; k < 2; k++)
        c->coord[c->count][k] = k < c->order ? coords[k] : -1;
    c->value[c->count++] = value.f;
    return 0;
}

/* The entries of a table, as text of the language: `tensor A csr f64 [n,m] = {…}`. */
static char *declaration(sqlite3 *db, const char *name, const char *from)
{
    sqlite3_stmt *q;
    int64_t size[2] = {0, 0};
    char *sql = sqlite3_mprintf("SELECT * FROM \"%w\"", from);
    int rc = sqlite3_prepare_v2(db, sql, -1, &q, NULL);
    sqlite3_free(sql);
    if (rc != SQLITE_OK) return NULL;
    const int order = sqlite3_column_count(q) - 1;
    sqlite3_str *s = sqlite3_str_new(db);
    while (order >= 1 && order <= 2 && sqlite3_step(q) == SQLITE_ROW) {
        sqlite3_str_appendf(s, "%s(", sqlite3_str_length(s) ? ", " : "");
        for (int k = 0; k < order; k++) {
            const int64_t i = sqlite3_column_int64(q, k);
            sqlite3_str_appendf(s, k ? ",%lld" : "%lld", i);
            size[k] = i >= size[k] ? i + 1 : size[k];
        }
        sqlite3_str_appendf(s, "): %!.17g", sqlite3_column_double(q, order));
    }
    sqlite3_finalize(q);
    char *entries = sqlite3_str_finish(s), *text = NULL;
    /* Tables of relations are square: both modes have the larger size. */
    const int64_t n = size[0] > size[1] ? size[0] : size[1];
    if (order == 1)
        text = sqlite3_mprintf("tensor %s svec f64 [%lld] = { %s }", name, n,
                               entries ? entries : "");
    if (order == 2)
        text = sqlite3_mprintf("tensor %s csr f64 [%lld,%lld] = { %s }", name, n, n,
                               entries ? entries : "");
    sqlite3_free(entries);
    return text;
}

static stc_status evaluate(cursor *c, stc_session *s, sqlite3 *db, int argc,
                           sqlite3_value **argv)
{
    stc_status st = STC_OK;
    const stc_tensor *t;
    stc_tensor *real = NULL;
    for (int k = 1; !st && k + 1 < argc; k += 2) {
        char *text = declaration(db, (const char *)sqlite3_value_text(argv[k]),
                                 (const char *)sqlite3_value_text(argv[k + 1]));
        /* An empty text would be no statement; this one names the fault. */
        st = stc_session_exec(s, text ? text : "tensor no_such_table", "table");
        sqlite3_free(text);
    }
    if (!st) st = stc_session_exec(s, (const char *)sqlite3_value_text(argv[0]), "stc");
    const char *last = st ? NULL : stc_session_last(s);
    if (!st && !last) return STC_ERR_PROGRAM;
    if (!st) st = stc_session_get(s, last, &t);
    if (!st) st = stc_tensor_convert(t, NULL, STC_F64, &real);
    if (!st) c->order = stc_tensor_order(real);
    if (!st) st = stc_tensor_visit(real, keep_entry, c);
    stc_tensor_free(real);
    return st;
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *text, int argc,
                  sqlite3_value **argv)
{
    cursor *c = (cursor *)base;
    table *t = (table *)base->pVtab;
    stc_machine *m;
    stc_session *s;
    (void)number, (void)text;
    empty(c);
    if (argc < 1 || argc % 2 == 0 || !sqlite3_value_text(argv[0])) {
        t->base.zErrMsg = sqlite3_mprintf("stc(statement [, name, table]...)");
        return SQLITE_ERROR;
    }
    if (stc_open(&(stc_config){.max_memory = (uint64_t)1 << 30}, &m)) return SQLITE_NOMEM;
    stc_status st = stc_session_open(m, &s);
    if (!st) st = evaluate(c, s, t->db, argc, argv);
    if (st) {
        const stc_error_info *e = stc_error(m);
        t->base.zErrMsg =
            sqlite3_mprintf("%s:%d:%d: %s", e->file, e->line, e->column, e->message);
    }
    stc_close(m);
    return st ? SQLITE_ERROR : SQLITE_OK;
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

static int column(sqlite3_vtab_cursor *base, sqlite3_context *out, int k)
{
    const cursor *c = (cursor *)base;
    if (k == 2)
        sqlite3_result_double(out, c->value[c->at]);
    else if (k < 2 && k < c->order)
        sqlite3_result_int64(out, c->coord[c->at][k]);
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

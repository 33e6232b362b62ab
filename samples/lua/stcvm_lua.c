/* stcvm_lua.c: stcvm as a module of Lua 5.4: sessions, and arrays of numbers to and from them.
 *
 *     local stcvm = require "stcvm_lua"
 *     local s = stcvm.session()
 *     s:put("x", {1, 2, 3}, {3})                -- dense, row-major, f64
 *     s:exec [[ tensor A csr = "plate.mtx"; y(i) = A(i,j) * x(j) ]]
 *     local values, shape = s:get("y")          -- all elements, row-major
 *     s:entries("A", function(i, j, v) … end)   -- what is stored; coordinates from 0
 *
 * Failures are Lua errors with stcvm's message and its place. What a script prints is given
 * back by exec as a string. A session has a machine of its own, and ends with it.
 */
#include <lauxlib.h>
#include <lua.h>
#include <stcvm.h>
#include <stdlib.h>

#define SESSION "stcvm.session"

typedef struct session {
    stc_machine *m;
    stc_session *s;
} session;

static session *self(lua_State *L)
{
    session *s = luaL_checkudata(L, 1, SESSION);
    if (!s->m) luaL_error(L, "the session is closed");
    return s;
}

static void check(lua_State *L, const session *s, stc_status st)
{
    const stc_error_info *e = stc_error(s->m);
    if (!st) return;
    if (e->line) luaL_error(L, "%s:%d:%d: %s", e->file, e->line, e->column, e->message);
    luaL_error(L, "%s", e->message);
}

static int session_open(lua_State *L)
{
    session *s = lua_newuserdatauv(L, sizeof *s, 0);
    *s = (session){0};
    luaL_setmetatable(L, SESSION);
    if (stc_open(NULL, &s->m)) return luaL_error(L, "there is no memory for a machine");
    check(L, s, stc_session_open(s->m, &s->s));
    return 1;
}

static int session_close(lua_State *L)
{
    session *s = luaL_checkudata(L, 1, SESSION);
    stc_close(s->m);
    *s = (session){0};
    return 0;
}

static int session_exec(lua_State *L)
{
    session *s = self(L);
    const char *text = luaL_checkstring(L, 2);
    char *said = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&said, &size);
    if (!out) return luaL_error(L, "there is no memory");
    stc_session_output(s->s, out);
    const stc_status st = stc_session_exec(s->s, text, "lua");
    stc_session_output(s->s, NULL);
    fclose(out);
    lua_pushlstring(L, said, size);
    free(said);
    check(L, s, st);
    return 1;
}

/* A table of positive integers. */
static int shape_at(lua_State *L, int index, int64_t *shape)
{
    luaL_checktype(L, index, LUA_TTABLE);
    const lua_Unsigned n = lua_rawlen(L, index);
    luaL_argcheck(L, n <= STC_MAX_ORDER, index, "too many modes");
    for (lua_Unsigned k = 0; k < n; k++) {
        int is = 0;
        lua_rawgeti(L, index, (lua_Integer)k + 1);
        shape[k] = lua_tointegerx(L, -1, &is);
        luaL_argcheck(L, is && shape[k] >= 0, index, "a shape has integers");
        lua_pop(L, 1);
    }
    return (int)n;
}

static int session_put(lua_State *L)
{
    session *s = self(L);
    const char *name = luaL_checkstring(L, 2);
    int64_t shape[STC_MAX_ORDER], want = 1;
    luaL_checktype(L, 3, LUA_TTABLE);
    const int64_t n = (int64_t)lua_rawlen(L, 3);
    const int order = shape_at(L, 4, shape);
    for (int k = 0; k < order; k++)
        luaL_argcheck(L, !__builtin_mul_overflow(want, shape[k], &want), 4, "too large");
    luaL_argcheck(L, want == n, 3, "the shape has another number of elements");
    double *values = lua_newuserdatauv(L, (size_t)n * sizeof *values + 1, 0);
    for (int64_t k = 0; k < n; k++) {
        int is = 0;
        lua_rawgeti(L, 3, k + 1);
        values[k] = lua_tonumberx(L, -1, &is);
        luaL_argcheck(L, is, 3, "a table of numbers is needed");
        lua_pop(L, 1);
    }
    stc_tensor *t;
    check(L, s,
          stc_tensor_from_dense(s->m, "dense", STC_F64, order, shape, NULL, values, &t));
    const stc_status st = stc_session_put(s->s, name, t);
    if (st) stc_tensor_free(t);
    check(L, s, st);
    return 0;
}

static void push_value(lua_State *L, stc_type type, stc_value v)
{
    switch (type) {
    case STC_BOOL:
        lua_pushboolean(L, v.i != 0);
        return;
    case STC_F32:
    case STC_F64:
        lua_pushnumber(L, v.f);
        return;
    case STC_C64:
    case STC_C128:
        luaL_error(L, "Lua has no complex numbers");
        return;
    default:
        lua_pushinteger(L, v.i);
    }
}

/* Shape, then the tensor by name. */
static const stc_tensor *tensor_at(lua_State *L, const session *s)
{
    const stc_tensor *t;
    check(L, s, stc_session_get(s->s, luaL_checkstring(L, 2), &t));
    return t;
}

static int session_get(lua_State *L)
{
    session *s = self(L);
    const stc_tensor *t = tensor_at(L, s);
    const int order = stc_tensor_order(t);
    const int64_t *shape = stc_tensor_shape(t);
    int64_t n = 1, at[STC_MAX_ORDER] = {0};
    for (int k = 0; k < order; k++)
        if (__builtin_mul_overflow(n, shape[k], &n) || n > 1 << 26)
            return luaL_error(L, "too many elements; entries() gives those stored");
    lua_createtable(L, (int)n, 0);
    for (int64_t e = 0; e < n; e++) {
        stc_value v;
        check(L, s, stc_tensor_get(t, at, &v));
        push_value(L, stc_tensor_type(t), v);
        lua_rawseti(L, -2, e + 1);
        for (int k = order - 1; k >= 0 && ++at[k] == shape[k]; k--)
            at[k] = 0;
    }
    lua_createtable(L, order, 0);
    for (int k = 0; k < order; k++) {
        lua_pushinteger(L, shape[k]);
        lua_rawseti(L, -2, k + 1);
    }
    return 2;
}

/* An error in the function may not leave stc_tensor_visit by a jump: it ends the visit, and is
 * raised after it. */
typedef struct visit {
    lua_State *L;
    int order;
    stc_type type;
    bool failed;
} visit;

static int visit_one(void *context, const int64_t *coords, stc_value v)
{
    visit *to = context;
    lua_pushvalue(to->L, 3);
    for (int k = 0; k < to->order; k++)
        lua_pushinteger(to->L, coords[k]);
    push_value(to->L, to->type, v);
    to->failed = lua_pcall(to->L, to->order + 1, 0, 0) != LUA_OK;
    return to->failed;
}

static int session_entries(lua_State *L)
{
    session *s = self(L);
    const stc_tensor *t = tensor_at(L, s);
    visit to = {L, stc_tensor_order(t), stc_tensor_type(t), false};
    luaL_checktype(L, 3, LUA_TFUNCTION);
    luaL_checkstack(L, STC_MAX_ORDER + 4, NULL);
    if (to.type == STC_C64 || to.type == STC_C128)
        return luaL_error(L, "Lua has no complex numbers");
    const stc_status st = stc_tensor_visit(t, visit_one, &to);
    if (to.failed) return lua_error(L);
    check(L, s, st);
    return 0;
}

int luaopen_stcvm_lua(lua_State *L);
int luaopen_stcvm_lua(lua_State *L)
{
    static const luaL_Reg methods[] = {
        {"exec", session_exec},       {"put", session_put},     {"get", session_get},
        {"entries", session_entries}, {"close", session_close}, {"__gc", session_close},
        {NULL, NULL},
    };
    static const luaL_Reg module[] = {{"session", session_open}, {NULL, NULL}};
    luaL_newmetatable(L, SESSION);
    luaL_setfuncs(L, methods, 0);
    lua_pushvalue(L, -1);
    lua_setfield(L, -2, "__index");
    luaL_newlib(L, module);
    return 1;
}

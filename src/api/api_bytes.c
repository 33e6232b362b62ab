/* api_bytes.c: programs as bytes and as text: .stb files, dumps, assembly.
 *
 * What is read is untrusted: it is verified before it is linked. What is written is what
 * runs: of a program that is planned for what is bound to it, that plan; into a file all
 * plans that were made for data.
 */
#include "api.h"
#include "../io/output.h"
#include "../io/read.h"

#define STB_MAX ((int64_t)1 << 30) /* no sane program is larger than a gigabyte */

stc_status program_adopt(stc_machine *m, program *p, double load, stc_program **out)
{
    const uint64_t start = now_ticks();
    machine *mc = NULL;
    stc_status st = program_verify(p);
    if (!st) st = machine_new(p, &mc);
    if (st) {
        program_free(p);
        return st;
    }
    const double verify = (double)(now_ticks() - start);
    stc_program *w = NULL;
    if ((st = program_wrap(m, p, mc, &w))) return st;
    w->from_text = w->waits = p->notation;
    w->times.load = load;
    w->times.verify = verify;
    *out = w;
    return STC_OK;
}

/* The bytes of the plan that runs, and of the others. */
static stc_status encode_now(const stc_program *w, void **bytes, size_t *size)
{
    program *whole, *list[PLANS_MAX];
    stc_status st = plan_whole(w, &whole);
    if (st) return st;
    const int n = plan_list(w, whole ? whole : program_now(w), list);
    st = plans_encode(list, n, bytes, size);
    program_free(whole);
    return st;
}

/* A program of such bytes, which took some time to come by since `start`. */
static stc_status decode_all(stc_machine *m, const void *bytes, size_t size, double start,
                             stc_program **out)
{
    program *list[PLANS_MAX];
    stc_program *w = NULL;
    int n;
    stc_status st = plans_decode(&m->cx, bytes, size, list, &n);
    if (st) return st;
    st = program_adopt(m, list[0], now_us() - start, &w);
    if (!st) {
        st = plan_adopt(w, list + 1, n - 1);
    } else {
        while (--n > 0)
            program_free(list[n]);
    }
    if (!st) {
        *out = w;
    } else if (w) {
        program_drop(w);
    }
    return st;
}

stc_status stc_program_encode(const stc_program *w, void **bytes, size_t *size)
{
    API_CALL(w, &w->m->cx);
    if (!bytes || !size) return fail_null(&w->m->cx, "bytes or size");
    void *made;
    size_t n;
    stc_status st = encode_now(w, &made, &n);
    if (st) return st;
    if (!(st = api_text(&w->m->cx, made, n, bytes))) *size = n;
    mem_free(&w->m->cx, made, n);
    return st;
}

stc_status stc_program_decode(stc_machine *m, const void *bytes, size_t size,
                              stc_program **out)
{
    API_CALL_LIMITED(m, &m->cx);
    if (!bytes) return fail_null(cx, "bytes");
    if (!out) return fail_null(cx, "out");
    return decode_all(m, bytes, size, now_us(), out);
}

stc_status stc_program_dump(const stc_program *w, char **text)
{
    API_CALL(w, &w->m->cx);
    if (!text) return fail_null(cx, "text");
    textbuf b;
    program *whole;
    stc_status st = plan_whole(w, &whole);
    if (st) return st;
    text_init(&b, cx);
    program *list[PLANS_MAX];
    const int n = plan_list(w, whole ? whole : program_now(w), list);
    st = program_dump(list[0], &b);
    for (int k = 1; k < n && !st; k++)
        text_add(&b, "; its file has a plan for data like 0x%016llx, too\n",
                 (unsigned long long)list[k]->like);
    program_free(whole);
    return api_text_of(&b, st, text);
}

stc_status stc_program_assemble(stc_machine *m, const char *text, const char *file,
                                stc_program **out)
{
    API_CALL_LIMITED(m, &m->cx);
    if (!text) return fail_null(cx, "text");
    if (!out) return fail_null(cx, "out");
    const double start = now_us();
    program *p = NULL;
    stc_status st = program_assemble(cx, text, file ? file : "asm", &p);
    return st ? st : program_adopt(m, p, now_us() - start, out);
}

/* ---- files --------------------------------------------------------------------- */

stc_status stc_program_save(const stc_program *w, const char *path)
{
    API_CALL(w, &w->m->cx);
    if (!path) return fail_null(cx, "path");
    const double start = now_us();
    void *bytes;
    size_t size;
    stc_status st = encode_now(w, &bytes, &size);
    if (st) return st;
    output o;
    if (!(st = output_open(&o, cx, path))) {
        output_bytes(&o, bytes, size);
        st = output_close(&o, STC_OK);
    }
    mem_free(cx, bytes, size);
    ((stc_program *)w)->times.save = now_us() - start;
    return st;
}

stc_status stc_program_load(stc_machine *m, const char *path, stc_program **out)
{
    API_CALL_LIMITED(m, &m->cx);
    if (!path) return fail_null(cx, "path");
    if (!out) return fail_null(cx, "out");
    const double start = now_us();
    file_bytes b = {0};
    stc_status st = file_read(cx, path, STB_MAX, &b);
    if (!st) st = decode_all(m, b.data, (size_t)b.len, start, out);
    mem_free(cx, b.data, b.size);
    if (st && !cx->diag.file[0]) stc_text_show(cx->diag.file, sizeof cx->diag.file, path);
    return st;
}

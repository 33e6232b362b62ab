/* lines.c: parses ordinary lines of numbers fast, and says where it met another.
 *
 * Eight digits are recognised and taken at once, as one word (after Lemire, "Number parsing
 * at a gigabyte per second", 2021). A round has some blocks for each thread, which take
 * them one by one: a block's thread finds where its lines begin and how many there are;
 * when those before it have their places it has its own, and is parsed. So no thread waits
 * for one that the system doesn't let run, but for the few lines of code in between. A
 * block that doesn't end as it began ends the round, and all.
 *
 * The text is in memory, or in a file: then each thread reads its blocks into room of its
 * own, which stays in the processor's cache. Blocks overlap there by the longest line that
 * is an ordinary one: a line belongs to the block in which the one before it ends.
 */
#include "lines.h"
#include "number.h"
#include "../../formats/base/parts.h"
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum {
    BLOCK = 2 << 20,
    EACH = 8,       /* blocks of a round for each thread          */
    LINE = 1 << 12, /* bytes of an ordinary line, at most      */
    WORD = 8        /* zeros behind a block, to be looked at    */
};

typedef struct block {
    const char *p, *end; /* whole lines; p: where parsing ended      */
    const char *text;    /* the end of what may be looked at         */
    bool found;          /* where they begin and end is known        */
    bool blank;          /* nothing stands from there to the end     */
    const line_form *form;
    entries *e;
    int64_t at, lines; /* the first entry's place; how many there are */
    int64_t done;
} block;

/* What blocks are of, a round of them after the other. */
typedef struct rounds {
    input *in;
    int fd;              /* -1: the text is in memory                       */
    char *room;          /* else: for the blocks                             */
    int64_t begin, size; /* where this round begins, how long the text is     */
    int64_t step;        /* bytes of a block                                 */
    bool first;          /* a line begins there, whatever is before it        */
    bool ended;          /* nothing but blank lines may follow              */
    const line_form *form;
    entries *e;
    int64_t most; /* entries that the round may have, -1: any        */
    block *b;
    int n;
    _Atomic int next;     /* block that no thread has taken                   */
    pthread_mutex_t lock; /* of what follows                                  */
    pthread_cond_t turn;
    int placed, parsed; /* blocks whose entries have places; that are through */
    int64_t total;      /* entries that have places                           */
    bool stopped;       /* what isn't placed isn't wanted                     */
    stc_status status;
} rounds;

/* ---- numbers ---------------------------------------------------------------------- */

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
/* Takes eight digits, if there are as many. */
static inline bool take_eight(const char **p, const char *text, uint64_t *w)
{
    uint64_t c;
    if (text - *p < 8) return false;
    memcpy(&c, *p, 8);
    const uint64_t high = 0xf0f0f0f0f0f0f0f0, six = 0x0606060606060606;
    if (((c & high) | ((c + six) & high) >> 4) != 0x3333333333333333) return false;
    c = (c & 0x0f0f0f0f0f0f0f0f) * (10 << 8 | 1) >> 8;
    c = (c & 0x00ff00ff00ff00ff) * (100 << 16 | 1) >> 16;
    c = (c & 0x0000ffff0000ffff) * ((uint64_t)10000 << 32 | 1) >> 32;
    *w = *w * 100000000 + c;
    *p += 8;
    return true;
}
#else
static inline bool take_eight(const char **p, const char *text, uint64_t *w)
{
    (void)p, (void)text, (void)w;
    return false;
}
#endif

static inline const char *take_digits(const char *p, const char *text, uint64_t *w)
{
    while (take_eight(&p, text, w))
        continue;
    while (is_digit(*p))
        *w = *w * 10 + (uint64_t)(*p++ - '0');
    return p;
}

/* Numbers whose digits and exponent are small enough to be exact; others as any are. */
static inline const char *take_f64(const char *p, const char *text, double *out)
{
    const char *const number = p;
    const bool negative = *p == '-';
    p += negative;
    uint64_t w = 0;
    const char *const digits = p;
    p = take_digits(p, text, &w);
    int64_t n = p - digits, exponent = 0;
    if (*p == '.') {
        const char *const fraction = ++p;
        p = take_digits(p, text, &w);
        exponent = fraction - p;
        n -= exponent;
    }
    if (n == 0 || n > 19) return scan_f64(number, out);
    if (*p == 'e' || *p == 'E') {
        p++;
        const bool below = *p == '-';
        int e = 0;
        p += *p == '-' || *p == '+';
        const char *const first = p;
        while (is_digit(*p) && p - first < 4)
            e = e * 10 + (*p++ - '0');
        if (p == first || is_digit(*p)) return scan_f64(number, out);
        exponent += below ? -e : e;
    }
    if (!number_exact(w, exponent, out)) return scan_f64(number, out);
    if (negative) *out = -*out;
    return p;
}

static inline const char *take_i64(const char *p, int64_t *out)
{
    const bool negative = *p == '-';
    const char *const first = p + negative;
    int64_t w = 0;
    p = first;
    while (is_digit(*p) && p - first < 18)
        w = w * 10 + (*p++ - '0');
    if (p == first) return NULL;
    *out = negative ? -w : w;
    return p;
}

/* ---- lines -------------------------------------------------------------------------- */

/* Behind the separator of a form; NULL if there is none. */
static inline const char *take_separator(const line_form *f, const char *p)
{
    if (f->separator) return *p == f->separator ? p + 1 : NULL;
    if (!is_blank(*p)) return NULL;
    while (is_blank(*++p))
        continue;
    return p;
}

/* The line at p; the place behind it, NULL if it isn't an ordinary one. */
static inline const char *take_line(const block *b, const char *p, int64_t at)
{
    entries *const e = b->e;
    const line_form *const f = b->form;
    for (int k = 0; k < e->order; k++) {
        const char *const first = p;
        uint64_t w = 0;
        while (is_digit(*p) && p - first < 18)
            w = w * 10 + (uint64_t)(*p++ - '0');
        if (p == first || (w -= (uint64_t)f->base) >= (uint64_t)f->limit[k]) return NULL;
        if (e->is_narrow)
            e->narrow[k][at] = (int32_t)w;
        else
            e->coord[k][at] = (int64_t)w;
        if (k + 1 == e->order && !f->values) break;
        if (!(p = take_separator(f, p))) return NULL;
    }
    for (int k = 0; k < f->values; k++) {
        const int64_t to = at * f->values + k;
        if (k && !(p = take_separator(f, p))) return NULL;
        p = e->type == STC_F64 ? take_f64(p, b->text, (double *)e->vals + to)
                               : take_i64(p, (int64_t *)e->vals + to);
        if (!p) return NULL;
    }
    if (*p == '\r' && p[1] == '\n') p++;
    return *p == '\n' ? p + 1 : NULL;
}

static void parse_block(block *b)
{
    const char *p = b->p;
    int64_t n = 0;
    while (n < b->lines && p < b->end) {
        const char *const next = take_line(b, p, b->at + n);
        if (!next) break;
        p = next;
        n++;
    }
    b->p = p;
    b->done = n;
}

/* ---- blocks ------------------------------------------------------------------------- */

/* Bytes [at, at + n) of the file; false: they can't be had, and the reader of the whole
 * file will say why. */
static bool read_bytes(int fd, char *to, int64_t at, int64_t n)
{
    while (n > 0) {
        const ssize_t got = pread(fd, to, (size_t)n, at);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        to += got;
        at += got;
        n -= got;
    }
    return true;
}

/* Behind the first line end from `at` on, of the n bytes at p, which is the text's byte
 * `from`; -1: there is none. */
static int64_t line_behind(const char *p, int64_t from, int64_t n, int64_t at)
{
    const char *const end =
        at - from < n ? memchr(p + (at - from), '\n', (size_t)(n - (at - from))) : NULL;
    return end ? end + 1 - p + from : -1;
}

/* Reads the bytes that block k looks at, from `from` on; how many, 0 where that fails. A
 * text whose last line doesn't end gets its end here. */
static int64_t load_block(const rounds *r, char *room, int64_t from, int64_t stop)
{
    int64_t n = stop - from + LINE;
    if (n > r->size - from) n = r->size - from;
    if (!read_bytes(r->fd, room, from, n)) return 0;
    if (from + n == r->size && room[n - 1] != '\n') room[n++] = '\n';
    memset(room + n, 0, WORD);
    return n;
}

/* How many line ends there are, by sums of bytes as far as those go. */
static int64_t count_ends(const char *p, const char *end)
{
    enum { SUM = 128 };
    int64_t n = 0;
    for (; end - p >= SUM; p += SUM) {
        uint8_t some = 0;
        for (int k = 0; k < SUM; k++)
            some = (uint8_t)(some + (p[k] == '\n'));
        n += some;
    }
    for (; p < end; p++)
        n += *p == '\n';
    return n;
}

/* Block k: its lines, and how many they are; worker w reads them. */
static void find_block(const rounds *r, int k, int w)
{
    block *b = &r->b[k];
    const int64_t start = r->begin + k * r->step;
    const bool first = r->first && k == 0;
    const int64_t from = first ? start : start - 1; /* where the line before it may end */
    const int64_t stop = start + r->step < r->size ? start + r->step : r->size;
    const char *p = r->in->begin + from;
    int64_t n = r->size - from;
    if (r->fd >= 0) {
        char *const room = r->room + w * (r->step + LINE + 2 * WORD);
        p = room;
        if (!(n = load_block(r, room, from, stop))) return;
    }
    const int64_t begin = first ? start : line_behind(p, from, n, from);
    int64_t end = line_behind(p, from, n, stop - 1);
    if (end < 0 && r->fd < 0) /* the last line has no end, and isn't an ordinary one */
        for (end = r->size; end > from && p[end - 1 - from] != '\n';)
            end--;
    b->found = end >= 0;
    if (begin < 0 || end <= begin) return;
    b->p = p + (begin - from);
    b->end = p + (end - from);
    b->text = p + n;
    b->lines = count_ends(b->p, b->end);
}

/* Whether nothing stands from p to end. */
static bool is_blank_from(const char *p, const char *end)
{
    while (p < end && is_space(*p))
        p++;
    return p == end;
}

/* Room for n more lines; the first time for as many as all blocks would have with these. */
static stc_status make_room(const rounds *r, int64_t n)
{
    entries *const e = r->e;
    const int64_t values = r->form->values > 1 ? r->form->values : 1;
    int64_t all = 0, need;
    if (r->fd < 0) return STC_OK;
    if (!e->cap)
        all = (int64_t)((double)n * (double)(r->size - r->begin) / (double)r->step);
    all = all > n ? all + all / 16 : e->n + r->total + n;
    if (!size_mul(e->n + r->total + n, values, &need) || !size_mul(all, values, &all))
        return fail(e->cx, STC_ERR_OVERFLOW, "%lld lines are too many", (long long)n);
    return need <= e->cap ? STC_OK : entries_reserve(e, all);
}

static bool has_room(const rounds *r, int64_t n)
{
    const int64_t values = r->form->values > 1 ? r->form->values : 1;
    int64_t need;
    return r->fd < 0 ||
           (size_mul(r->e->n + r->total + n, values, &need) && need <= r->e->cap);
}

/* Block k's turn, once those before it have places: it gets its own. */
static void place_block(rounds *r, int k)
{
    block *b = &r->b[k];
    pthread_mutex_lock(&r->lock);
    while (r->placed < k)
        pthread_cond_wait(&r->turn, &r->lock);
    if (r->most >= 0 && b->lines > r->most - r->total) b->lines = r->most - r->total;
    while (!r->stopped && !has_room(r, b->lines) && r->parsed < k)
        pthread_cond_wait(&r->turn, &r->lock); /* what others parse may move */
    if (!r->stopped && !has_room(r, b->lines) && (r->status = make_room(r, b->lines)))
        r->stopped = true;
    if (r->stopped) b->lines = 0;
    b->at = r->e->n + r->total;
    r->total += b->lines;
    r->placed = k + 1;
    pthread_cond_broadcast(&r->turn);
    pthread_mutex_unlock(&r->lock);
}

/* Whether the round may go on behind a block that was parsed. */
static bool goes_on(rounds *r, const block *b)
{
    if (r->fd < 0) {
        if (b->p) r->in->p = b->p;
        return b->p == b->end;
    }
    if (!b->found || (r->ended && b->done)) return false;
    r->ended |= b->p < b->end;
    return b->blank;
}

static void read_blocks(void *context, int w)
{
    rounds *r = context;
    for (int k; (k = atomic_fetch_add(&r->next, 1)) < r->n;) {
        block *b = &r->b[k];
        find_block(r, k, w);
        place_block(r, k);
        parse_block(b);
        b->blank = is_blank_from(b->p, b->end);
        pthread_mutex_lock(&r->lock);
        r->parsed++;
        r->stopped |= !b->blank || (r->fd >= 0 && !b->found);
        pthread_cond_broadcast(&r->turn);
        pthread_mutex_unlock(&r->lock);
    }
}

/* A round: e gets its entries, `most` of them; whether all lines were ordinary. */
static stc_status read_round(rounds *r, int64_t most, bool *ordinary)
{
    block b[PARTS_MAX * EACH];
    const int threads = parts_for(r->in->cx);
    const int64_t rest = r->size - r->begin;
    r->b = b;
    r->most = most;
    r->next = r->placed = r->parsed = r->n = 0;
    r->total = 0;
    for (; r->n < threads * EACH && r->n * r->step < rest; r->n++)
        b[r->n] = (block){.form = r->form, .e = r->e};
    const int64_t bytes = r->n * r->step < rest ? r->n * r->step : rest;
    parts_run(r->n < threads ? r->n : threads, read_blocks, r);
    if (r->status) return r->status;
    *ordinary = true;
    for (int k = 0; k < r->n && *ordinary; k++) {
        r->e->n += b[k].done;
        *ordinary = goes_on(r, &b[k]);
    }
    r->begin += bytes;
    r->first = false;
    return STC_OK;
}

static void open_rounds(rounds *r)
{
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->turn, NULL);
}

static void close_rounds(rounds *r)
{
    pthread_cond_destroy(&r->turn);
    pthread_mutex_destroy(&r->lock);
}

/* ---- the text ----------------------------------------------------------------------- */

stc_status lines_read(input *in, entries *e, const line_form *f, int64_t most)
{
    rounds r = {.in = in,
                .fd = -1,
                .begin = in->p - in->begin,
                .size = in->end - in->begin,
                .step = BLOCK,
                .form = f,
                .e = e,
                .first = true};
    const int64_t last = e->n + most;
    stc_status s = STC_OK;
    open_rounds(&r);
    for (bool ordinary = true; !s && ordinary && e->n < last && r.begin < r.size;) {
        s = read_round(&r, last - e->n, &ordinary);
        while (!s && input_due(in))
            s = input_tick(in);
    }
    close_rounds(&r);
    return s;
}

stc_status lines_stream(input *in, entries *e, const line_form *f, int64_t most,
                        bool *whole)
{
    rounds r = {.in = in,
                .fd = in->fd,
                .begin = in->p - in->begin,
                .size = in->size,
                .step = in->cx->grain ? in->cx->grain : BLOCK,
                .form = f,
                .e = e,
                .first = true};
    const int threads = parts_for(in->cx);
    const size_t room = (size_t)threads * (size_t)(r.step + LINE + 2 * WORD);
    if (!(r.room = mem_alloc(in->cx, room))) return in->cx->diag.status;
    stc_status s = STC_OK;
    *whole = true;
    open_rounds(&r);
    while (!s && *whole && r.begin < r.size) {
        const int64_t begin = r.begin;
        s = read_round(&r, most < 0 ? -1 : most - e->n, whole);
        if (!s)
            s = file_step(in->cx, in->path, "reading", "bytes parsed",
                          (uint64_t)(r.begin - begin) / 16, r.begin, r.size);
    }
    close_rounds(&r);
    mem_free(in->cx, r.room, room);
    *whole &= most < 0 || e->n == most;
    return s;
}

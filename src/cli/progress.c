/* progress.c: a line on the terminal about work that takes over two seconds.
 *
 * The library calls progress_show now and then (stc_config.progress). The
 * line says what is done, of how much, and how long the rest will take at the
 * pace so far; it is wiped before anything else is printed, and never shown
 * where standard error isn't a terminal.
 */
#include "cli.h"

#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

int terminal_columns(int fd)
{
    struct winsize size;
    if (ioctl(fd, TIOCGWINSZ, &size) || size.ws_col < 1) return 80;
    return size.ws_col;
}

int terminal_rows(int fd)
{
    struct winsize size;
    if (ioctl(fd, TIOCGWINSZ, &size) || size.ws_row < 1) return 24;
    return size.ws_row;
}

/* A number of units short enough for the line: 950, 12.3k, 4.56G. */
static void short_count(uint64_t n, char out[16])
{
    static const char unit[] = " kMGTPE";
    double v = (double)n;
    int k = 0;
    while (v >= 1000 && k < 6) {
        v /= 1000;
        k++;
    }
    if (k)
        snprintf(out, 16, "%.*f%c", v < 10 ? 2 : v < 100 ? 1 : 0, v, unit[k]);
    else
        snprintf(out, 16, "%d", (int)n);
}

static void short_duration(double seconds, char out[16])
{
    if (seconds < 100)
        snprintf(out, 16, "%.0f s", seconds);
    else if (seconds < 5940)
        snprintf(out, 16, "%.0f min", seconds / 60);
    else
        snprintf(out, 16, "%.0f h", seconds < 3e6 ? seconds / 3600 : 999.0);
}

static void draw(const progress *p, double now, uint64_t total)
{
    char line[160], done[16], all[16], left[16];
    int n;
    short_count(p->done, done);
    if (total && p->done <= total) {
        const double part = (double)p->done / (double)total;
        short_count(total, all);
        short_duration(part > 0 ? (now - p->since) * (1 - part) / part : 0, left);
        n = snprintf(line, sizeof line, "%s %3.0f%%, %s of %s, %s left", p->what,
                     100 * part, done, all, left);
    } else {
        short_duration(now - p->since, left);
        n = snprintf(line, sizeof line, "%s, %s, %s so far", p->what, done, left);
    }
    const int room = terminal_columns(STDERR_FILENO) - 1;
    if (n >= (int)sizeof line) n = sizeof line - 1;
    fprintf(stderr, "\r%.*s\033[K", n < room ? n : room, line);
    fflush(stderr);
}

int progress_show(void *context, const char *what, uint64_t done, uint64_t total)
{
    progress *p = context;
    const double now = now_us() * 1e-6;
    if (!p->on) return 0;
    if (!p->what || strcmp(p->what, what) || done < p->done) {
        p->what = what;
        p->since = p->last = now;
    }
    p->done = done;
    if (now - p->since < 2 || now - p->last < 0.2) return 0;
    p->last = now;
    p->shown = true;
    draw(p, now, total);
    return 0;
}

void progress_end(progress *p)
{
    if (p->shown) fputs("\r\033[K", stderr);
    p->shown = false;
    p->what = NULL;
    p->done = 0;
}

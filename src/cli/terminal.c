/* terminal.c: keys one by one from a terminal, and how wide a text is on it.
 *
 * Knows the escape sequences that xterm, the Linux console, screen and tmux
 * send; unknown ones are swallowed whole. A lone Escape is told from a
 * sequence by a pause. The terminal's own settings come back on fatal signals
 * and while the process is suspended.
 */
#include "lineedit.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

/* For the handlers, which have no argument. */
static struct termios cooked;
static volatile sig_atomic_t is_raw;

static void on_fatal(int number)
{
    if (is_raw) tcsetattr(STDIN_FILENO, TCSANOW, &cooked);
    signal(number, SIG_DFL);
    raise(number);
}

static void on_resize(int number)
{
    (void)number;
}

static void handle(int number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler}; /* reads end with EINTR */
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

bool terminal_raw(void)
{
    struct termios t;
    if (is_raw) return true;
    if (tcgetattr(STDIN_FILENO, &cooked)) return false;
    handle(SIGTERM, on_fatal);
    handle(SIGHUP, on_fatal);
    handle(SIGWINCH, on_resize);
    t = cooked;
    t.c_iflag &= ~(tcflag_t)(BRKINT | INPCK | ISTRIP | IXON);
    t.c_lflag &= ~(tcflag_t)(ECHO | ICANON | IEXTEN | ISIG);
    t.c_cc[VMIN] = 1;
    t.c_cc[VTIME] = 0;
    /* DRAIN, not FLUSH: what was typed during a long statement counts. */
    if (tcsetattr(STDIN_FILENO, TCSADRAIN, &t)) return false;
    is_raw = 1;
    return true;
}

void terminal_cooked(void)
{
    if (is_raw) tcsetattr(STDIN_FILENO, TCSADRAIN, &cooked);
    is_raw = 0;
    signal(SIGWINCH, SIG_DFL);
}

static bool wait_input(int milliseconds)
{
    struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
    return poll(&p, 1, milliseconds) > 0;
}

bool terminal_waiting(void)
{
    return wait_input(0);
}

static int read_byte(void)
{
    unsigned char byte;
    const ssize_t n = read(STDIN_FILENO, &byte, 1);
    if (n == 1) return byte;
    return n < 0 && errno == EINTR ? KEY_RESIZED : KEY_END_OF_INPUT;
}

/* The keys that end in ~, by their first number. */
static int tilde_key(int number)
{
    switch (number) {
    case 1:
    case 7:
        return KEY_HOME;
    case 4:
    case 8:
        return KEY_END;
    case 3:
        return KEY_DELETE;
    case 200:
        return KEY_PASTE;
    case 201:
        return KEY_PASTED;
    default:
        return KEY_NONE;
    }
}

/* After `ESC [` or `ESC O`: numbers, then a letter or a tilde. */
static int sequence_key(void)
{
    int first = 0, last = 0, parts = 0, byte;
    for (;;) {
        byte = read_byte();
        if (byte >= '0' && byte <= '9') {
            last = last < 1000 ? last * 10 + byte - '0' : last;
            first = parts ? first : last;
        } else if (byte == ';') {
            parts++;
            last = 0;
        } else if (byte > 255 || (byte >= 0x40 && byte <= 0x7e)) {
            break;
        }
    }
    const bool with_control = parts && last > 2; /* Alt, Control and their kin */
    switch (byte) {
    case 'A':
        return KEY_UP;
    case 'B':
        return KEY_DOWN;
    case 'C':
        return with_control ? KEY_WORD_RIGHT : KEY_RIGHT;
    case 'D':
        return with_control ? KEY_WORD_LEFT : KEY_LEFT;
    case 'H':
        return KEY_HOME;
    case 'F':
        return KEY_END;
    case '~':
        return tilde_key(first);
    default:
        return byte > 255 ? byte : KEY_NONE;
    }
}

int terminal_key(void)
{
    int byte = read_byte();
    if (byte != 27) return byte;
    if (!wait_input(50)) return KEY_NONE;
    byte = read_byte();
    switch (byte) {
    case '[':
    case 'O':
        return sequence_key();
    case 'b':
        return KEY_WORD_LEFT;
    case 'f':
        return KEY_WORD_RIGHT;
    case 'd':
        return KEY_WORD_DELETE;
    default:
        return byte > 255 ? byte : KEY_NONE;
    }
}

/* ---- width ------------------------------------------------------------------ */

size_t char_length(const char *text, size_t length)
{
    size_t n = length ? 1 : 0;
    while (n && n < length && ((unsigned char)text[n] & 0xc0) == 0x80)
        n++;
    return n;
}

static uint32_t decode(const char *text, size_t n)
{
    const unsigned char first = (unsigned char)text[0];
    uint32_t code = n == 1 ? first : first & (0xffu >> (n + 1));
    for (size_t k = 1; k < n; k++)
        code = code << 6 | ((unsigned char)text[k] & 0x3f);
    return code;
}

/* The C library's wcwidth would need a locale; these ranges are what matters. */
static int code_width(uint32_t code)
{
    static const struct {
        uint32_t from, to;
        int width;
    } range[] = {
        {0x300, 0x36f, 0},     {0x200b, 0x200f, 0},   {0xfe00, 0xfe0f, 0},
        {0x1100, 0x115f, 2},   {0x2e80, 0xa4cf, 2},   {0xac00, 0xd7a3, 2},
        {0xf900, 0xfaff, 2},   {0xfe30, 0xfe6f, 2},   {0xff00, 0xff60, 2},
        {0xffe0, 0xffe6, 2},   {0x1f300, 0x1f64f, 2}, {0x1f900, 0x1f9ff, 2},
        {0x20000, 0x3fffd, 2},
    };
    for (size_t k = 0; k < sizeof range / sizeof *range; k++)
        if (code >= range[k].from && code <= range[k].to) return range[k].width;
    return 1;
}

int text_width(const char *text, size_t length)
{
    int width = 0;
    for (size_t at = 0; at < length;) {
        const size_t n = char_length(text + at, length - at);
        width += code_width(decode(text + at, n > 4 ? 4 : n));
        at += n;
    }
    return width;
}

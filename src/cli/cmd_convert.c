/* cmd_convert.c: `stcvm convert`, `head`, `info` and `spy`: data files.
 */
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reads a data file in a format and a type, as `what` says: NULL: what it has. */
static int open_data(cli *c, const char *path, const char *what, stc_tensor **t)
{
    const char *format = NULL;
    int type = -1, status = STATUS_OK;
    if (!path_known(path, false)) return path_refused(path);
    char *text = what ? xstrndup(what, strlen(what)) : NULL;
    if (text) status = spec_format(text, &format, &type);
    if (status == STATUS_OK &&
        stc_tensor_read(c->machine, path, format, type, NULL, t) != STC_OK)
        status = report_error(c, 0);
    free(text);
    if (status == STATUS_OK) progress_end(&c->progress);
    return status;
}

int cmd_convert(cli *c, const args *a)
{
    stc_tensor *t;
    for (int i = 0; i < 2; i++)
        if (!path_known(a->operand[i], i)) return path_refused(a->operand[i]);
    stc_times times = {0};
    const double start = now_us();
    int status = open_data(c, a->operand[0], a->operands > 2 ? a->operand[2] : NULL, &t);
    if (status != STATUS_OK) return status;
    times.load = now_us() - start;
    status = output_write(c, t, a->operand[1], &times.save);
    if (status == STATUS_OK && c->opt.time) report_times(&times);
    stc_tensor_free(t);
    return status;
}

static int info_program(cli *c, const char *path)
{
    stc_program *p;
    const char *name;
    bool is_result;
    if (stc_program_load(c->machine, path, &p) != STC_OK) return report_error(c, 0);
    for (int i = 0; (name = stc_program_name(p, i, &is_result)); i++) {
        stc_decl d = {.size = sizeof d};
        char shown[512];
        stc_text_show(shown, sizeof shown, name);
        printf("%-8s %s", is_result ? "result" : "operand", shown);
        if (stc_program_decl(p, name, &d) == STC_OK) {
            stc_text_show(shown, sizeof shown, d.format);
            printf("  order %d  %s  %s", d.order, stc_type_name((stc_type)d.type), shown);
        }
        fputc('\n', stdout);
    }
    stc_program_free(p);
    return STATUS_OK;
}

int cmd_info(cli *c, const args *a)
{
    const char *path = a->operand[0];
    const size_t n = strlen(path);
    stc_tensor *t;
    if (n > 4 && !strcmp(path + n - 4, ".stb")) return info_program(c, path);
    int status = open_data(c, path, a->operands > 1 ? a->operand[1] : NULL, &t);
    if (status != STATUS_OK) return status;
    if (stc_tensor_check(t) != STC_OK) status = report_error(c, 0);
    progress_end(&c->progress);
    if (status == STATUS_OK) {
        print_info(t, stdout);
        status = print_survey(c, t, stdout);
    }
    stc_tensor_free(t);
    return status;
}

int cmd_head(cli *c, const args *a)
{
    enum { FEW = 10 };
    const char *path = a->operand[0];
    char *end;
    int64_t n = FEW;
    stc_tensor *t;
    if (a->operands > 1) {
        n = strtoll(a->operand[1], &end, 10);
        if (n < 1 || *end)
            return usage_error("head takes a number of entries from 1, not '%s'",
                               a->operand[1]);
    }
    int status = open_data(c, path, NULL, &t);
    if (status != STATUS_OK) return status;
    if (stc_tensor_print(t, stdout, n) != STC_OK) status = report_error(c, 0);
    stc_tensor_free(t);
    return status;
}

static int spy_write(cli *c, const stc_tensor *t, const char *path)
{
    enum { MOST = 1024 };
    stc_tensor *image;
    if (spy_pixels(c->machine, t, MOST, &image) != STC_OK) return report_error(c, 0);
    const stc_status status = stc_tensor_write(image, path);
    stc_tensor_free(image);
    return status == STC_OK ? STATUS_OK : report_error(c, 0);
}

static int spy_print(cli *c, const stc_tensor *t)
{
    const bool screen = isatty(STDOUT_FILENO);
    const int columns = screen ? terminal_columns(STDOUT_FILENO) : 80;
    const int rows = screen ? terminal_rows(STDOUT_FILENO) - 5 : 40;
    print_summary(t, stdout);
    fputc('\n', stdout);
    if (spy_draw(t, columns < 82 ? columns : 82, rows, stdout) != STC_OK)
        return report_error(c, 0);
    return STATUS_OK;
}

int cmd_spy(cli *c, const args *a)
{
    const char *path = a->outs ? a->out[0] : NULL;
    const size_t n = path ? strlen(path) : 0;
    stc_tensor *t;
    if (!path_known(a->operand[0], false)) return path_refused(a->operand[0]);
    if (a->outs > 1) return usage_error("spy draws one picture, and takes one -o");
    if (path && (n < 5 || strcmp(path + n - 4, ".pgm") != 0))
        return usage_error("'%s' has to end in .pgm", path);
    int status = open_data(c, a->operand[0], NULL, &t);
    if (status != STATUS_OK) return status;
    status = path ? spy_write(c, t, path) : spy_print(c, t);
    stc_tensor_free(t);
    return status;
}

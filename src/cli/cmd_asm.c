/* cmd_asm.c: `stcvm dump`, `asm` and `verify`: bytecode files as text and back.
 */
#include "cli.h"

#include <stdlib.h>

int cmd_dump(cli *c, const args *a)
{
    stc_program *p;
    char *text = NULL;
    if (stc_program_load(c->machine, a->operand[0], &p) != STC_OK)
        return report_error(c, 0);
    const stc_status st = stc_program_dump(p, &text);
    const int status = put_text(c, st, text, stdout);
    stc_program_free(p);
    return status;
}

int cmd_asm(cli *c, const args *a)
{
    const char *path;
    stc_program *p = NULL;
    int status = output_file(a, &path);
    if (status != STATUS_OK) return status;
    char *text = read_text(c, a->operand[0]);
    if (!text) return STATUS_FAULT;
    if (stc_program_assemble(c->machine, text, a->operand[0], &p) != STC_OK ||
        stc_program_save(p, path) != STC_OK)
        status = report_error(c, 0);
    stc_program_free(p);
    free(text);
    return status;
}

/* Loading verifies. */
int cmd_verify(cli *c, const args *a)
{
    stc_program *p;
    if (stc_program_load(c->machine, a->operand[0], &p) != STC_OK)
        return report_error(c, 0);
    printf("%s: verified\n", a->operand[0]);
    stc_program_free(p);
    return STATUS_OK;
}

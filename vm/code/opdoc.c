/* opdoc.c: the opcode table of vm/README.md, from opcodes.def. A test holds
 * the file against it.
 */
#include "text.h"

/* What an operand that is no reference stands for, as the assembler reads it. */
static const char *sample(char letter)
{
    return letter == 'F'   ? "function"
           : letter == 'Y' ? "class"
           : letter == 'Z' ? "type"
           : letter == 'L' ? "level"
                           : "n";
}

void opcode_reference(textbuf *out)
{
    text_add(out, "| no. | instruction | operands | meaning |\n");
    text_add(out, "| --: | --- | --- | --- |\n");
    for (int op = 0; op < OP_COUNT; op++) {
        const op_row *row = op_at(op);
        text_add(out, "| %d | `%s` | ", op, row->text);
        for (int k = 0; row->operands[k]; k++) {
            const char prefix[2] = {operand_prefix(row->operands[k]), 0};
            text_add(out, "%s%c:%s", k ? " " : "", 'a' + k,
                     *prefix ? prefix : sample(row->operands[k]));
        }
        text_add(out, " | %s |\n", row->effect);
    }
}

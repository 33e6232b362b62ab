/* opdoc.c: the opcode table of vm/README.md, from opcodes.def. A test holds
 * the file against it.
 */
#include "text.h"

/* What an operand letter stands for, as the assembler reads it. */
static const char *sample(char letter)
{
    switch (letter) {
    case 'V':
    case 'v':
        return "v";
    case 'I':
    case 'i':
        return "i";
    case 'M':
    case 'm':
    case 'X':
        return "m";
    case 'C':
    case 'c':
    case 'Q':
        return "c";
    case 'T':
    case 'R':
    case 'W':
        return "t";
    case 'E':
        return "e";
    case 'K':
        return "k";
    case 'G':
        return "g";
    case 'F':
        return "function";
    case 'Y':
        return "class";
    case 'Z':
        return "type";
    case 'U':
        return "f";
    case 'L':
        return "level";
    default:
        return "n";
    }
}

void opcode_reference(textbuf *out)
{
    text_add(out, "| no. | instruction | operands | meaning |\n");
    text_add(out, "| --: | --- | --- | --- |\n");
    for (int op = 0; op < OP_COUNT; op++) {
        const op_row *row = op_at(op);
        text_add(out, "| %d | `%s` | ", op, row->text);
        for (int k = 0; row->operands[k]; k++)
            text_add(out, "%s%c:%s", k ? " " : "", 'a' + k, sample(row->operands[k]));
        text_add(out, " | %s |\n", row->effect);
    }
}

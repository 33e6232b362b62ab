# man.awk: the manual page stcvm(3) from include/stcvm.h: `make man`. Comments in column 1
# become text, declarations what stands before them in the header, sections its rulers.
# tests/check_abi.sh sees that src/api/stcvm.3 is what this gives.
function escape(line) {
    gsub(/\\/, "\\e", line)
    gsub(/-/, "\\-", line)
    if (line ~ /^[.']/) line = "\\&" line
    return line
}
function mode(to) {
    if (to == now) return
    if (now == "code" || now == "example") print ".fi\n.ft R\n.RE"
    if (to == "code") print ".PP\n.RS 2\n.ft CW\n.nf"
    if (to == "example") print ".PP\n.RS 4\n.ft CW\n.nf"
    if (to == "text") print ".PP"
    now = to
}
function text(line) { # of a comment, without its stars
    if (line ~ /^ ? ? ?$/) {
        if (now == "example") print ""
        else now = ""
    } else if (line ~ /^    /) {
        mode("example")
        print escape(substr(line, 5))
    } else {
        mode("text")
        sub(/^ */, "", line)
        print escape(line)
    }
}
NR == 1 {
    print ".\\\" Made by `make man` from include/stcvm.h: change that."
    print ".TH STCVM 3 \"\" \"stcvm\" \"Library\""
    print ".SH NAME\nlibstcvm \\- evaluate sparse array expressions at once"
    print ".SH SYNOPSIS\n.nf\n#include <stcvm.h>\n.PP\ncc \\fIprogram.c\\fR $(pkg\\-config \\-\\-cflags \\-\\-libs stcvm)\n.fi"
    print ".SH DESCRIPTION"
    inside = 1
    next
}
/^\/\* ---- / {
    mode("")
    sub(/^\/\* -+ /, ""); sub(/ -+ \*\/$/, "")
    print ".SH " toupper($0)
    next
}
/^#/ && !/^#define STC_(VERSION|MAX)/ { next }
/^extern "C"|^}$/ { next }
inside || /^\/\*/ {
    line = $0
    ends = line ~ /\*\/$/
    sub(/^\/\* ?/, " ", line); sub(/ ?\*\/$/, "", line); sub(/^ \*/, "", line)
    text(line)
    inside = !ends
    next
}
/^$/ { mode(""); next }
{
    mode("code")
    sub(/^STC_API /, "")
    print escape($0)
}
END { mode("") ; print ".SH SEE ALSO\n.BR stcvm (1)" }

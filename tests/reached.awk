# reached.awk: what no test ran of what must each be hit by one: functions (each
# instance of a template is one), handlers of opcodes, places that tell an error.
#   usage: gcov -b -t -o DIR FILES | awk -v allowed=tests/unreached.txt -f reached.awk
# A line of `allowed` is KIND FILE TEXT, where TEXT is a function's name, an
# opcode, or how an error's text begins in the source; `# …` above says why. Exit
# status 1 if anything else wasn't reached.

function key(kind, what) { return kind " " file " " what }

# Where the text of an error begins: at a call that fails, or a text returned.
function begins(text) {
    return text ~ /(fail|refuse|refused|expected|fault)[a-z_]*\(/ || text ~ /return .*"[^"]* [^"]*"/
}

function literal(text) {
    if (!match(text, /"([^"\\]|\\.)* ([^"\\]|\\.)*"?/)) return ""
    text = substr(text, RSTART + 1, RLENGTH - 1)
    sub(/"$/, "", text)
    text = substr(text, 1, 50)
    sub(/ +$/, "", text)
    return text
}

function note(kind, what, n) {
    seen[key(kind, what)] += n
    where[key(kind, what)] = file ":" line
}

BEGIN {
    while ((getline row < allowed) > 0)
        if (row !~ /^(#|$)/) may[row] = 1
}

/^ *-: *0:Source:/ {
    sub(/^ *-: *0:Source:/, "")
    file = $0
    waiting = 0; opcode = ""
    next
}
file !~ /^(vm|formats|src)\// || file ~ /^src\/cli\// { next }

/^function / { line = 0; if (file !~ /^src/) note("function", $2, $4); next }

/^ *[-#=0-9*]+: *[0-9]+:/ {
    count = $0; sub(/:.*/, "", count); gsub(/[ *]/, "", count)
    text = $0; sub(/^[^:]*: */, "", text)
    line = text; sub(/:.*/, "", line)
    sub(/^[0-9]+:/, "", text)
    counted = count != "-"
    times = count ~ /^[#=]/ ? 0 : count + 0
    if (match(text, /^ *CASE\([A-Z0-9_]+\)/) && file ~ /\/interp.c$/) {
        opcode = text; gsub(/^ *CASE\(|\).*/, "", opcode)
    }
    if (opcode != "" && counted) { note("opcode", opcode, times); opcode = "" }
    if (begins(text) && counted) { waiting = 4; hits = times }
    if (waiting > 0 && (said = literal(text)) != "") {
        note("message", said, hits)
        waiting = 0
    } else if (waiting > 0 && (text ~ /;/ || !--waiting)) {
        waiting = 0
    }
}

END {
    for (k in seen) {
        split(k, part, " ")
        all[part[1]]++
        if (seen[k] > 0) { hit[part[1]]++; continue }
        if (k in may) { listed[part[1]]++; continue }
        print "not reached: " k " (" where[k] ")" | "sort"
        bad = 1
    }
    close("sort")
    for (k in may) if (!(k in seen)) print "listed, but not there: " k
    for (k in all)
        printf "reached: %d of %d %ss, %d others are listed in %s\n", hit[k], all[k], k, \
            listed[k], allowed
    exit bad
}

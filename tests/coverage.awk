# coverage.awk: lines and branches of vm/ and formats/ that ran, a line a file, and
# their sum.
#   usage: gcov -b -c -t -o DIR FILES | awk -v dirs='vm formats' -f coverage.awk
#
# A branch is a way out of a condition, as gcov counts them without optimisation:
# `if (a && b)` has four. They are counted as they stand in the source: what a table
# makes of a template (X-macros: types, widths, bodies) counts once, and a branch of it
# has run if it did in any instance; reached.awk asks that each instance ran. Templates
# belong to the file that has their text, whatever table has the rows. What headers
# have is left out. With -v missing=1 it lists what didn't run instead: file, line and
# function, and for each branch + or -.

# An instance's name begins with its template's; types, functions and widths follow.
function template(name) {
    sub(/_[A-Z].*$/, "", name)
    sub(/_(4|8|32|64)$/, "", name)
    return name
}

# The branches of one function, or instance, are complete.
function flush(    key, k) {
    if (n) {
        key = unit " " template(fn) " " n
        count[key] = n
        for (k = 1; k <= n; k++) {
            if (taken[k]) ran[key, k] = 1
            at[key, k] = src ":" where[k]
        }
    }
    n = 0
}

/^ *-: *0:Source:/ {
    flush()
    src = $0; sub(/^.*:Source:/, "", src)
    wanted = src ~ /\.(c|def)$/
    for (i = split(dirs, d, " "); wanted && i > 0; i--)
        if (index(src, d[i] "/") == 1) break
    wanted = wanted && i > 0
    next
}
/^ *-: *0:Graph:/ {
    unit = $0; sub(/^.*:Graph:/, "", unit); sub(/\.gcno$/, ".c", unit)
    sub(/^build[^\/]*\//, "", unit)
    next
}
!wanted { next }
/^function / { flush(); fn = $2; next }
/^branch / { taken[++n] = $3 == "taken" && $4 != "0"; where[n] = line; next }
/^ *[-#=0-9*]+: *[0-9]+:/ {
    split($0, part, ":")
    line = part[2] + 0
    if (src != unit || part[1] ~ /- *$/) next
    lines[unit, line] = part[1] ~ /[#=]/ ? lines[unit, line] : 1
}

function percent(hit, all) { return all ? 100 * hit / all : 100 }

function row(name, l, lh, b, bh) {
    return sprintf("%-28s %7.1f %% of %5d lines %7.1f %% of %5d branches, %4d not", name,
        percent(lh, l), l, percent(bh, b), b, b - bh)
}

END {
    flush()
    for (k in lines) {
        split(k, part, SUBSEP)
        files[part[1]]; nline[part[1]]++; hline[part[1]] += lines[k]
    }
    for (k in count) {
        split(k, part, " ")
        files[part[1]]; nbranch[part[1]] += count[k]; marks = last = ""
        for (i = 1; i <= count[k]; i++) {
            hbranch[part[1]] += ran[k, i]
            if (missing && at[k, i] != last) {
                if (marks ~ /-/) print part[1], last, part[2], marks
                marks = ""; last = at[k, i]
            }
            marks = marks (ran[k, i] ? "+" : "-")
        }
        if (missing && marks ~ /-/) print part[1], last, part[2], marks
    }
    if (missing) exit
    order = "sort -t, -k2,2nr"
    for (f in files) {
        print row(f, nline[f], hline[f], nbranch[f], hbranch[f]) | order
        l += nline[f]; lh += hline[f]; b += nbranch[f]; bh += hbranch[f]
    }
    close(order)
    print row("together", l, lh, b, bh)
}

# coverage.awk: what gcov -b says of each file named, a line a file, the worst
# first within sort's reach, and their sum. Lines and branches are those of the
# file itself; its headers' are left out.
#   usage: gcov -b -n -o DIR FILES | awk -v dirs='vm formats' -f coverage.awk
/^File / {
    file = substr($2, 2, length($2) - 2)
    wanted = file ~ /\.c$/
    for (i = split(dirs, d, " "); wanted && i > 0; i--)
        if (index(file, d[i] "/") == 1) break
    wanted = wanted && i > 0
}
/^Lines executed:/ && wanted {
    split($0, p, /[:% ]+/)
    lines = $NF; hit = p[3] * lines / 100
    all_lines += lines; all_hit += hit
    percent = p[3]
}
/^Taken at least once:/ && wanted {
    split($0, p, /[:% ]+/)
    all_branches += $NF; all_taken += p[5] * $NF / 100
    printf "%-28s %7.1f %% of %5d lines %7.1f %% of %5d branches\n", file, percent, lines, p[5], $NF
    wanted = 0
}
END {
    if (all_lines && all_branches)
        printf "%-28s %7.1f %% of %5d lines %7.1f %% of %5d branches\n", "together",
            100 * all_hit / all_lines, all_lines, 100 * all_taken / all_branches, all_branches
}

#!/bin/sh
# check_layers.sh: the folders of the source use each other in one direction only.
# `rules` below has a row for each folder: what it may use besides itself. The
# script looks at every #include, and at every function and table that an object file
# uses, since a prototype can be written without a header. It then plants violations
# in a copy of nothing but folders, and sees that they are found.
#   usage: BUILD=build sh tests/check_layers.sh
set -u
build=${BUILD:-build}

# FOLDER  the folders that it may use; one that is named stands for its subfolders, too.
rules='
include
formats       formats/base include
formats/base  include
vm/fn         formats include
vm/code       vm/fn formats include
vm/verify     vm/code vm/fn formats include
vm/core       vm/code vm/fn formats include
vm/nest       vm/core vm/code vm/fn formats include
vm/work       vm/core vm/code vm/fn formats include
vm/strips     vm/work vm/nest vm/core vm/code vm/fn formats include
vm/super      vm/strips vm/work vm/nest vm/core vm/code vm/fn formats include
vm/cascades   vm/super vm/strips vm/work vm/nest vm/core vm/code vm/fn formats include
vm/intervals  vm/strips vm/work vm/nest vm/core vm/code vm/fn formats include
vm/affine     vm/super vm/strips vm/work vm/nest vm/core vm/code vm/fn formats include
vm/rows       vm/affine vm/super vm/strips vm/work vm/nest vm/core vm/code vm/fn
vm/rows       formats include
vm/threads    vm/work vm/nest vm/core vm/code vm/fn formats include
vm/run        vm/threads vm/verify vm/rows vm/affine vm/intervals vm/cascades vm/super
vm/run        vm/strips vm/work vm/nest vm/core vm/code vm/fn formats include
src/io        formats include
src/lang      vm formats include
src/plan      src/lang vm formats include
src/opt       src/lang vm formats include
src/grad      src/lang vm formats include
src/lower     src/plan src/opt src/lang vm formats include
src/api       src/grad src/lower src/plan src/opt src/lang src/io vm formats include
src/session   src/api src/grad src/lower src/plan src/opt src/lang src/io vm formats
src/session   include
src/cli       include
samples       include
samples/mpi   include
samples/python/src  include
'

# Names that are used against these rules, still: they are to go.
except='session_drop machine_poll machine_call machine_link machine_free machine_dispatch'

# What both programs share: allowed(a, b): whether folder a may use folder b.
common='
BEGIN {
    for (n = split(rules, row, "\n"); n > 0; n--) {
        k = split(row[n], word, " ")
        if (k == 0) continue
        known[word[1]] = 1
        for (; k > 1; k--) may[word[1]] = may[word[1]] " " word[k]
    }
}
function folder(path) { sub(/\/[^\/]*$/, "", path); return path }
function allowed(a, b, list, n) {
    if (a == b) return 1
    for (n = split(may[a], list, " "); n > 0; n--)
        if (index(b "/", list[n] "/") == 1) return 1
    return 0
}
function refuse(where, a, what, b) {
    if (!(a in known))
        print where ": " what ", and no row of tests/check_layers.sh is for " a
    else if (!(b in known))
        print where ": " what " is in " b ", for which tests/check_layers.sh has no row"
    else
        print where ": " what " is in " b "; " a " may use only itself and" \
            (may[a] == "" ? " the C library" : may[a])
    bad = 1
}
'

includes() { # of the tree in the working directory
    find include formats vm src samples -name '*.[ch]' -o -name '*.def' | sort |
        xargs awk -v rules="$rules" "$common"'
    function plain(path, n, i, k, part, out) { # without . and ..
        n = split(path, part, "/")
        for (i = 1; i <= n; i++)
            if (part[i] != ".." || k == 0) part[++k] = part[i]
            else k--
        for (i = 1; i <= k; i++) out = out (i > 1 ? "/" : "") part[i]
        return out
    }
    /^[ \t]*#[ \t]*include[ \t]*"/ {
        split($0, part, "\"")
        to = plain(folder(FILENAME) "/" part[2])
        n++
        if (!allowed(folder(FILENAME), folder(to)) || !(folder(to) in known))
            refuse(FILENAME ":" FNR, folder(FILENAME), to, folder(to))
    }
    END { if (!bad) print "check_layers: " n " includes go the way they may"; exit bad }'
}

# Names that object files define and use, as nm has them; the public ones, stc_*, are
# declared in include/. What was built of files that are gone doesn't count.
uses() {
    find formats vm src -name '*.c' | sort | sed "s|^|$build/|; s|c\$|o|" |
        xargs nm -A 2>/dev/null | awk -v rules="$rules" -v except="$except" \
            -v build="$build/" "$common"'
    {
        file = $1; sub(/:.*/, "", file); file = substr(file, length(build) + 1)
        name = $NF; type = $(NF - 1)
    }
    name ~ /^_*stc_/ || index(" " except " ", " " name " ") { next }
    type ~ /^[TDBRVWC]$/ {
        own[folder(file), name] = 1
        if (file !~ /^src\/cli\//) home[name] = file # the tool is linked apart
    }
    type == "U" { user[file, name] = 1 }
    END {
        for (k in user) {
            split(k, part, SUBSEP)
            if (!(part[2] in home) || ((folder(part[1]), part[2]) in own)) continue
            n++
            if (!allowed(folder(part[1]), folder(home[part[2]])))
                refuse(part[1], folder(part[1]), part[2] " of " home[part[2]], \
                    folder(home[part[2]]))
        }
        if (!bad) print "check_layers: " n " uses by name go the way they may"
        exit bad
    }'
}

status=0
includes || status=1
if [ -d "$build"/formats ]; then uses || status=1; fi

# What is planted here has to be found.
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
mkdir -p include formats vm src/lang src/cli samples
plant() { # file, the line in it
    echo "$2" >"$1"
    includes >said && { echo "FAILED: $1 may have $2"; status=1; }
    grep -q "^$1:1: " said || { echo "FAILED: $1:1 isn't named:"; cat said; status=1; }
    rm "$1"
}
plant formats/a.c '#include "../vm/core/machine.h"'
plant vm/a.h '#  include "../src/lang/scope.h"'
plant vm/a.def '#include "../vm/../src/api.h"'
plant src/cli/a.c '#include "../../formats/base/context.h"'
plant src/lang/a.c '#include "../plan/plan.h"'
plant vm/a.c '#include "room/a.h"'
plant samples/a.c '#include "../src/api/api.h"'

# A call without an include: what `uses` sees alone.
build=objects
mkdir -p objects/formats objects/vm objects/src
echo 'void run(void); void start(void); void start(void) { run(); }' >formats/a.c
echo 'void run(void); void run(void) {}' >vm/b.c
for file in formats/a vm/b; do ${CC:-cc} -c -o objects/$file.o $file.c || status=1; done
uses >said && { echo "FAILED: formats/a.c may call what vm/b.c has"; status=1; }
grep -q '^formats/a.o: run of vm/b.o ' said || { echo "FAILED: run isn't named:"; cat said; status=1; }
[ $status = 0 ] || echo "check_layers: failed"
exit $status

#!/bin/sh
# check_abi.sh: programs that were linked to an earlier libstcvm of the same soname run with
# this one. abi.txt describes the header as the last tag had it, for 64-bit machines: each
# line of it has to be so still, but that structs that begin with their size may be larger.
# Then it plants changes that break programs, and sees that they are found. And: the symbol
# map names what the header declares and the library exports it; the manual page is in step.
#   usage: BUILD=build sh tests/check_abi.sh; with UPDATE=1 it writes abi.txt anew, for a tag
set -u
build=${BUILD:-build}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cc=${CC:-cc}
status=0

describe() { # folder of stcvm.h: its description
    $cc -fpreprocessed -dD -E -P "$1/stcvm.h" 2>/dev/null | awk -f tests/abi.awk >"$dir/d.c" &&
        $cc -w -I"$1" -o "$dir/d" "$dir/d.c" && "$dir/d" | sort
}

broken() { # kept description, one to compare: what of the first isn't in the second
    awk 'NR == FNR { if ($1 == "struct") size[$2] = $3; if ($1 == "field" && $2 ~ /\.size$/ && $3 == 0) grows[$2] = 1
                     has[$0] = 1; next }
         $0 in has { next }
         $1 == "struct" && ($2 ".size") in grows && size[$2] > $3 { next }
         { print "  " $0 }' "$2" "$1"
}

describe include >"$dir/now" || { echo "FAILED: the header can't be described"; exit 1; }
if [ "${UPDATE:-}" ]; then
    cp "$dir/now" tests/abi.txt
    echo "check_abi: $(wc -l <tests/abi.txt) lines written"
    exit 0
fi
if [ "$(getconf LONG_BIT)" = 64 ] && ! grep -q m32 <<B
$build
B
then
    broken tests/abi.txt "$dir/now" >"$dir/said"
    if [ -s "$dir/said" ]; then
        echo "FAILED: these lines of tests/abi.txt aren't so any more:"
        cat "$dir/said"
        status=1
    fi
fi

# Changes that a host of before would suffer from, and two that it wouldn't.
mkdir "$dir/include"
plant() { # found or fine, a change as sed has it
    sed "$2" include/stcvm.h >"$dir/include/stcvm.h"
    cmp -s include/stcvm.h "$dir/include/stcvm.h" && { echo "FAILED: $2 changes nothing"; status=1; }
    describe "$dir/include" >"$dir/then" || { echo "FAILED: $2 isn't C"; status=1; return; }
    broken "$dir/now" "$dir/then" >"$dir/said"
    case $1 in
    found) [ -s "$dir/said" ] ;;
    fine) [ ! -s "$dir/said" ] ;;
    esac || { echo "FAILED: $2 should be $1:"; cat "$dir/said"; status=1; }
}
plant found 's/^    uint64_t max_steps;/    uint64_t max_work, max_steps;/'
plant found 's/^    STC_ERR_SHAPE,/    STC_ERR_NEW, STC_ERR_SHAPE,/'
plant found 's/^STC_API stc_status stc_run(stc_program \*p);//'
plant found 's/^STC_API stc_status stc_set_threads(stc_machine \*m, int threads)/STC_API stc_status stc_set_threads(stc_machine *m, long threads)/'
plant found 's/^    int32_t stride;/    int32_t stride, more;/'
plant fine 's/^    const char \*spill;/    const char *spill; int later;/'
plant fine 's/^    STC_ERR_OVERFLOW,/    STC_ERR_OVERFLOW, STC_ERR_NEW,/'

# The map, the header, the library.
sed -n 's/^function .*[ *]\(stc_[a-z0-9_]*\)(.*/\1/p' "$dir/now" | sort >"$dir/declared"
sed -n 's/^ *\(stc_[a-z0-9_]*\);.*/\1/p' src/api/stcvm.map | sort >"$dir/mapped"
diff "$dir/declared" "$dir/mapped" || { echo "FAILED: src/api/stcvm.map isn't what the header declares"; status=1; }
if [ -f "$build/libstcvm.so" ]; then
    nm -D --defined-only "$build/libstcvm.so" | sed -n 's/.* T \(stc_[a-z0-9_]*\)@@STCVM_[0-9.]*$/\1/p' | sort >"$dir/exported"
    diff "$dir/declared" "$dir/exported" || { echo "FAILED: $build/libstcvm.so doesn't export what the header declares"; status=1; }
fi
awk -f src/api/man.awk include/stcvm.h | cmp -s - src/api/stcvm.3 ||
    { echo "FAILED: src/api/stcvm.3 isn't what \`make man\` gives"; status=1; }
[ $status = 0 ] && echo "check_abi: $(wc -l <tests/abi.txt | tr -d ' ') lines of the last tag hold, $(wc -l <"$dir/declared" | tr -d ' ') functions are exported and on the manual page"
exit $status

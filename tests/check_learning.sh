#!/bin/sh
# check_learning.sh: the samples that learn by derivatives: the losses that they print fall
# from line to line, on base operations too, and the last one is as small as it should be.
# samples/completion.c compiles without a warning as C99, C17 and C++17.
set -u
tool=${STCVM:-./build/stcvm}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failures=0

fault() {
    failures=$((failures + 1))
    echo "FAILED $*"
}

falls() { # sample, what the last loss is below, how many are printed at least
    for how in "" --no-super; do
        # shellcheck disable=SC2086
        "$tool" $how "samples/$1" >"$dir/out" 2>&1 || fault "$1: $(head -3 "$dir/out")"
        awk -v most="$2" -v least="$3" '/^round/ {
            if (n++ && !($4 < last)) bad = 1
            last = $4
        } END { exit bad || n < least || !(last < most) }' "$dir/out" ||
            fault "$1 $how: $(tr '\n' ' ' <"$dir/out")"
    done
}
falls factors.stc 0.6 5
falls logistic.stc 0.32 6
falls network.stc 0.03 5
grep -q "side 1[678] of 34" "$dir/out" || fault "network.stc: $(tail -1 "$dir/out")"

for way in "${CC:-cc} -std=c99" "${CC:-cc} -std=c17" "${CXX:-c++} -x c++ -std=c++17"; do
    command -v "${way%% *}" >/dev/null || continue
    # shellcheck disable=SC2086
    $way -pedantic -Wall -Wextra -Werror -Iinclude -c -o "$dir/a.o" samples/completion.c ||
        fault "$way"
done

[ $failures = 0 ] || { echo "check_learning: $failures failed"; exit 1; }
echo "check_learning: losses fall"

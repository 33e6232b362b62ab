#!/bin/sh
# check_standards.sh: three programs written from the header alone (samples/builder.c,
# completion.c, room.c) compile without a warning as C99, C17 and C++17, and run; room.c with
# every allocation of the C library counted, of which there is none after its first round.
# completion.c has a real matrix, too. `make check` sets BUILD.
set -u
build=${BUILD:-build}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cc=${CC:-gcc}
case $cc in *clang) cxx=clang++ ;; *) cxx=g++ ;; esac
command -v $cxx >/dev/null || { echo "check_standards: C++17: skipped, there is no $cxx"; cxx=; }
more= # what the library was built with
case $build in
*-san*) more=-fsanitize=address,undefined ;;
*-tsan*) more=-fsanitize=thread ;;
*-m32*) more=-m32 ;;
*-cov*) more=--coverage ;;
esac
failures=0
failed() { failures=$((failures + 1)); echo "FAILED: $*"; cat "$dir/log"; }
warn="-O1 -Wall -Wextra -Wshadow -pedantic -Werror -Iinclude"
data=${STC_DATA:-../shared/data}/matrices/10x_subset.mtx
[ -f "$data" ] || data=tests/data/matrices/bfwa62.mtx

for name in builder completion room; do
    for std in c99 c17 c++17; do
        case $std in c++*) [ "$cxx" ] || continue; compile="$cxx -x c++" ;; *) compile=$cc ;; esac
        # shellcheck disable=SC2086
        $compile -std=$std $warn $more -c -o "$dir/$name.o" samples/$name.c >"$dir/log" 2>&1 &&
            $cc $more -o "$dir/$name" "$dir/$name.o" "$build/libstcvm.a" -lm -pthread -lstdc++ \
                >>"$dir/log" 2>&1 || { failed "$name as $std"; continue; }
        "$dir/$name" >"$dir/log" 2>&1 || failed "$name as $std doesn't run"
    done
done
"$dir/completion" "$data" >"$dir/log" 2>&1 || failed "completion of $data"
grep 'loss' "$dir/log" | tail -1

case $more in
-fsanitize*) echo "check_standards: allocations aren't counted, the sanitizer has its own" ;;
*)
    wrap=
    for f in malloc calloc realloc aligned_alloc posix_memalign mmap; do wrap="$wrap -Wl,--wrap=$f"; done
    # shellcheck disable=SC2086
    $cc -std=c99 $warn $more -DCOUNTED -o "$dir/counted" samples/room.c tests/files/count_malloc.c \
        "$build/libstcvm.a" $wrap -lm -pthread >"$dir/log" 2>&1 || failed "room, counted"
    "$dir/counted" >"$dir/log" 2>&1 || failed "room, counted, doesn't run"
    cat "$dir/log"
    ;;
esac
[ $failures = 0 ] || { echo "check_standards: $failures failed"; exit 1; }
echo "check_standards: three programs are C99, C17${cxx:+ and C++17}, and run"

#!/bin/sh
# check_contributing.sh: .github/CONTRIBUTING.md, followed to the letter. Its changes (blocks
# marked `diff`, and `c` after the name of a new file) are made in a copy, the copy is built,
# and each block marked `stc` or `stb` must print what the block marked `text` after it shows.
# Its changes touch tables that nearly all is made of: the copy isn't optimized. `make check`
# runs it with BUILD set to the folder of the build; builds with other options skip it.
set -u
root=$PWD
doc=$root/.github/CONTRIBUTING.md
build=${BUILD:-build}
[ "$build" = build ] || { echo "check_contributing: skipped: $build isn't the plain build"; exit 0; }
command -v git >/dev/null || { echo "check_contributing: skipped: there is no git"; exit 0; }
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/copy" "$dir/blocks"
cp -pr Makefile include src vm formats samples tests "$dir/copy" || exit 1

awk -v blocks="$dir/blocks" -v copy="$dir/copy" '
    /^`[a-z_\/]*\.c`, the whole of it:$/ { split($0, part, "`"); name = part[2] }
    /^```diff$/      { file = blocks "/changes"; next }
    /^```c$/         { file = copy "/" name; next }
    /^```(stc|stb)$/ { file = blocks "/" ++n "." substr($0, 4); next }
    /^```text$/      { file = blocks "/" n ".want"; next }
    /^```$/          { file = ""; next }
    file             { print > file }' "$doc"
cd "$dir/copy" || exit 1
GIT_CEILING_DIRECTORIES=$dir git apply "$dir/blocks/changes" ||
    { echo "FAILED: a change doesn't apply"; exit 1; }
build=build-O0
make -j2 OPT=-O0 $build/stcvm $build/tests/check_main >"$dir/log" 2>&1 ||
    { grep -v '^  ' "$dir/log" | head -20; echo "FAILED: the copy isn't built"; exit 1; }

failures=0
count=0
for block in "$dir"/blocks/*.st[bc]; do
    case $block in
    *.stc) $build/stcvm --quiet "$block" ;;
    *) $build/stcvm asm "$block" -o "$dir/a.stb" && $build/stcvm run "$dir/a.stb" -o y ;;
    esac >"$dir/got" 2>&1
    count=$((count + 1))
    cmp -s "${block%.*}.want" "$dir/got" && continue
    failures=$((failures + 1))
    echo "FAILED:"; cat "$block"; diff "${block%.*}.want" "$dir/got"
done
for suite in bind levels functions program; do
    CK_RUN_SUITE=$suite CK_FORK=no $build/tests/check_main >"$dir/got" 2>&1 && continue
    failures=$((failures + 1))
    echo "FAILED: $suite"; tail -20 "$dir/got"
done
[ "$failures" = 0 ] || exit 1
echo "check_contributing: a function, a kind, an opcode, a kernel and a test were added; \
$count programs print what the page shows"

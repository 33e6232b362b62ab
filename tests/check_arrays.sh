#!/bin/sh
# check_arrays.sh: the samples of array programming, and that the work is what
# the algebra says: how many rounds a profile counts for fused functions, masked
# products, idempotent reductions and reductions that have their annihilator.
set -u
tool=${STCVM:-./build/stcvm}
case $tool in /*) ;; *) tool=$PWD/$tool ;; esac
data=${STC_DATA:-../shared/data}/images/pgm
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failures=0

fault() {
    failures=$((failures + 1))
    echo "FAILED $*"
}

# Every line of arrays.stc counts wrong elements.
"$tool" samples/arrays.stc >"$dir/out" 2>&1 || fault "arrays.stc: $(head -3 "$dir/out")"
[ "$(sort -u "$dir/out")" = 0 ] || fault "arrays.stc: $(tr '\n' ' ' <"$dir/out")"
"$tool" --no-super samples/arrays.stc >"$dir/base" 2>&1
cmp -s "$dir/out" "$dir/base" || fault "arrays.stc differs on base operations"

edges() { # image, as PGM: our count against the definition's
    sed "s#\"plate.pgm\"#\"$1\"#" samples/edges.stc >"$dir/edges.stc"
    got=$("$tool" "$dir/edges.stc" 2>&1)
    want=$(python3 - "$1" <<'P'
import re, sys
b = open(sys.argv[1], "rb").read()
head = re.match(rb"(P[25])\s+(?:#[^\n]*\n\s*)*(\d+)\s+(\d+)\s+(\d+)\s", b)
w, h = int(head[2]), int(head[3])
v = list(b[head.end():]) if head[1] == b"P5" else [int(x) for x in b[head.end():].split()]
top = max(v)
print(sum((v[i * w + j] > 0.75 * top) != (v[i * w + j] > 0.8 * top)
          for i in range(4, h) for j in range(4, w)))
P
)
    [ "$got" = "$want" ] || fault "edges of $1: $got instead of $want"
}
if command -v python3 >/dev/null; then
    edges "$PWD/samples/plate.pgm"
    if [ -d "$data" ]; then
        for f in "$data"/mri_*.pgm; do
            case $f in /*) edges "$f" ;; *) edges "$PWD/$f" ;; esac
        done
    else
        echo "check_arrays: $data isn't there: only the image in samples/"
    fi
else
    echo "check_arrays: images skipped, there is no python3 to check with"
fi

# The executions of the last instruction that matches, on base operations; and
# the rounds of the last loop that runs as a whole.
executed() {
    "$tool" --quiet --no-super --profile "$dir/p.stc" 2>&1 | awk -v p="$1" '$0 ~ p {n = $1} END {print n + 0}'
}
rounds() {
    "$tool" --quiet --profile "$dir/p.stc" 2>&1 |
        sed -n 's/^ *\([0-9]*\) .* loop .*; \([0-9]*\) rounds.*/\2/p' | tail -1
}
at_most() { # what, limit, got
    [ "$3" -ge 0 ] && [ "$3" -le "$2" ] || fault "$1: $3 rounds, not $2 at most"
}

cat >"$dir/p.stc" <<'P'
tensor A csr bool [1000,1000] = random(density=0.05, seed=1)
tensor B csr bool [1000,1000] = random(density=0.05, seed=2)
tensor C csr bool [1000,1000] = random(density=0.001, seed=3)
F(i,j) = C(i,j) && (A(i,j) ^ B(i,j))
P
at_most "and of xor, evaluated" 1100 "$(executed bitxor)"
# A look at a strip that stays empty is a round, too; strips are short under SAN and COV.
at_most "and of xor, visited" 2400 "$(rounds)"

cat >"$dir/p.stc" <<'P'
tensor A csr bool [1000,1000] = random(density=0.05, seed=1)
tensor x dense bool [1000] = true
tensor r dense f64 [1000] = random(density=0.75, seed=5)
m(i) = r(i) != 0
y(i) = !m(i) && any(j: A(i,j) && x(j))
P
# 1000 tests of the mask, and the 50 entries each of the 250 rows it leaves
at_most "complemented mask, evaluated" 14000 "$(executed 'fn2 .* and, i64')"
at_most "complemented mask, visited" 15000 "$(rounds)"

cat >"$dir/p.stc" <<'P'
tensor T csf f64 [100,100,100] = random(density=0.001, seed=5)
best = max(i,j,k: T(i,j,k))
P
at_most "idempotent reduction, evaluated" 1100 "$(executed 'fn2 .* max, f64')"

cat >"$dir/p.stc" <<'P'
tensor x dense bool [1000000] = true
a = any(i: x(i))
P
at_most "a settled truth value" 5000 "$(rounds)"

cat >"$dir/p.stc" <<'P'
fn most(x, y) { while (x < y) { x = y }; return x } with commutative, associative, identity(0), annihilator(9)
tensor x dense i64 [100000] = 9
a = most(i: x(i))
P
at_most "a user's annihilator" 10 "$(executed 'call ')"

[ "$failures" -eq 0 ] || { echo "check_arrays: $failures failed"; exit 1; }
echo "check_arrays: samples, images and counters are right"

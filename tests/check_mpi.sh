#!/bin/sh
# check_mpi.sh: scripts on 2 and 4 ranks (more than there are processors) print what one machine
# prints, to the bit for integers; the bytes exchanged are those that the splits told; a rank
# that is killed, or fails, ends the others within 5 seconds. Skipped without MPI.
# usage: STCVM=build/stcvm BUILD=build sh tests/check_mpi.sh
set -eu
stcvm=${STCVM:-build/stcvm} build=${BUILD:-build}
if ! command -v mpicc >/dev/null || ! command -v mpirun >/dev/null; then
    echo "check_mpi: skipped, there is no mpicc (libopenmpi-dev, openmpi-bin)"
    exit 0
fi
case $build in *-san* | *-tsan* | *-m32* | *-cov*)
    echo "check_mpi: skipped in $build" && exit 0 ;;
esac
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
OMPI_MCA_mpi_yield_when_idle=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_mpi_yield_when_idle
export OMPI_MCA_rmaps_base_oversubscribe OMPI_MCA_hwloc_base_binding_policy
fail() { echo "check_mpi: $1" >&2; cat "$tmp/err" >&2; exit 1; }

mpicc -std=gnu17 -O2 -Wall -Wextra -Werror -Iinclude -o "$tmp/stcvm-mpi" \
    samples/mpi/[efsv]*.c "$build/libstcvm.a" -lm -pthread

# A band, in a file that ranks read in ranges: a rank needs the neighbours' elements next to its
# own, and no others.
awk 'BEGIN { n = 1000; print "%%MatrixMarket matrix coordinate integer symmetric"
             print "% rows in no order"; print n, n, 2 * n - 1
             for (i = n; i >= 1; i--) print i, i, i % 7 + 1
             for (i = 2; i <= n; i++) print i, i - 1, i % 3 - 1 }' >"$tmp/band.mtx"
cat >"$tmp/band.stc" <<'EOF'
tensor A csr i64 = "band.mtx"
tensor x dense i64 [1000] = 3
repeat 5 {
  x(i) = A(i,j) * x(j) & 1023
}
D(i,j) = 2 * A(i,j)
B(i,j) = A(i,k) * D(k,j)
y(i) = B(i,j) * x(j)
z(i) = y(i) * A(i,i) + 3 * x(i)
u(j) = B(i,j) * z(i)
s = u(i) * z(i)
print u, s
EOF

same() { # script, statements that are split at least
    "$stcvm" "$1" >"$tmp/one" 2>"$tmp/err" || fail "$1 doesn't run"
    for n in 2 4; do
        mpirun -n $n "$tmp/stcvm-mpi" -v "$1" >"$tmp/many" 2>"$tmp/err" ||
            fail "$1 fails on $n ranks"
        cmp "$tmp/one" "$tmp/many" || fail "$1 says something else on $n ranks"
        [ "$(grep -c '^  by mode' "$tmp/err")" -ge "$2" ] ||
            fail "$1: too few statements were split"
        sed -n 's/.* ranks, \(.*\) bytes told, \(.*\) received.*/\1 \2/p' "$tmp/err" |
            { read -r told moved && [ "$told" -gt 0 ] && [ "$told" = "$moved" ]; } ||
            fail "$1: the bytes told on $n ranks aren't those received"
    done
}
same tests/mpi/integers.stc 20
same samples/mpi/plate.stc 60 # page ranks, too
same "$tmp/band.stc" 10
grep -A1 '^  x(i) = A\|^x(i) = A' "$tmp/err" | tail -1 | grep -q ' 8 bytes told, 8 received\| 16 bytes told' ||
    fail "more of a vector was exchanged than what lies along a band"
grep -A1 '^tensor A' "$tmp/err" | grep -q 'read in ranges' || fail "the file wasn't read in ranges"
sed '/^1 1 /d' "$tmp/band.mtx" >"$tmp/short.mtx"
echo 'tensor A csr = "short.mtx"' >"$tmp/short.stc"
if mpirun -n 2 "$tmp/stcvm-mpi" "$tmp/short.stc" >"$tmp/out" 2>"$tmp/err"; then
    fail "a line that is missing went unnoticed"
fi
grep -q 'other lines than its head says' "$tmp/err" || fail "a missing line isn't told"

# MPI counts the same: Open MPI's monitoring has what ranks sent each other.
cat >"$tmp/whole.stc" <<'EOF'
tensor A csr [20000,20000] = random(density=0.0005, seed=1)
tensor x dense [20000] = 1
repeat 20 {
  y(i) = A(i,j) * x(j)
  x(i) = 0.1 * y(i) + 1
}
EOF
mpirun -n 4 --mca pml_monitoring_enable 2 --mca pml_monitoring_enable_output 3 \
    --mca pml_monitoring_filename "$tmp/sent" "$tmp/stcvm-mpi" "$tmp/whole.stc" >"$tmp/out" 2>"$tmp/err" ||
    fail "whole.stc fails"
if [ -f "$tmp/sent.0.prof" ]; then
    told=$(sed -n 's/.* ranks, \(.*\) bytes told.*/\1/p' "$tmp/err")
    cat "$tmp"/sent.*.prof | awk -v told="$told" '/^[EI]\t/ { sent += $4 }
        END { exit !(told > 9000000 && sent >= told && sent < 1.01 * told) }' ||
        fail "MPI sent other than the $told bytes that were told (and some hundredth for the rest)"
fi

# One rank's share, of as many ranks as one likes.
cat >"$tmp/share.stc" <<'EOF'
tensor A dcsr [100000, 100000] = random(density=0.0001, seed=1)
tensor x dense [100000] = 1
repeat 10 {
  y(i) = A(i,j) * x(j)
  x(i) = 0.1 * y(i)
}
EOF
"$tmp/stcvm-mpi" --share 3/10 "$tmp/share.stc" >"$tmp/out" 2>"$tmp/err" || fail "no share"
# 90,000 elements of x for the second product, and for later ones as many entries of 16 bytes
grep -q 'rank 3 of 10: .* \(122[0-9]*\) bytes told, \1 received' "$tmp/out" ||
    { cat "$tmp/out"; fail "a share receives something else"; }

# A rank is killed in the middle.
cat >"$tmp/long.stc" <<'EOF'
tensor A csr [200,200] = random(density=0.1, seed=1)
tensor x dense [200] = 1
repeat 100000000 {
  x(i) = 0.001 * A(i,j) * x(j)
}
EOF
mpirun -n 4 "$tmp/stcvm-mpi" "$tmp/long.stc" >"$tmp/out" 2>"$tmp/err" &
run=$!
sleep 2
victim=$(ps -o pid= --ppid $run | tail -1)
[ -n "$victim" ] || fail "no ranks are running"
begin=$(date +%s)
kill -9 $victim
if wait $run; then fail "a killed rank went unnoticed"; fi
[ $(($(date +%s) - begin)) -le 5 ] || fail "the others went on after a rank was killed"
grep -qi 'signal\|killed' "$tmp/err" || fail "nothing says that a rank was killed"

# A mistake is told with its place, and ends all ranks.
echo 'y(i) = nosuch(i)' >"$tmp/bad.stc"
if mpirun -n 2 "$tmp/stcvm-mpi" "$tmp/bad.stc" >"$tmp/out" 2>"$tmp/err"; then
    fail "a mistake went unnoticed"
fi
grep -q 'bad.stc:1:8: .*nosuch' "$tmp/err" || fail "the mistake has no place"
echo "check_mpi: passed"

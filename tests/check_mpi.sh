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
    samples/mpi/stcvm_mpi.c samples/mpi/exchange.c "$build/libstcvm.a" -lm -pthread

for script in tests/mpi/integers.stc samples/mpi/plate.stc; do
    "$stcvm" "$script" >"$tmp/one" 2>"$tmp/err" || fail "$script doesn't run"
    for n in 2 4; do
        mpirun -n $n "$tmp/stcvm-mpi" -v "$script" >"$tmp/many" 2>"$tmp/err" ||
            fail "$script fails on $n ranks"
        cmp "$tmp/one" "$tmp/many" || fail "$script says something else on $n ranks"
        [ "$(grep -c '^  by mode' "$tmp/err")" -ge 20 ] ||
            fail "$script: too few statements were split"
        sed -n 's/.* ranks, \(.*\) bytes told, \(.*\) received.*/\1 \2/p' "$tmp/err" |
            { read -r told moved && [ "$told" -gt 0 ] && [ "$told" = "$moved" ]; } ||
            fail "$script: the bytes told on $n ranks aren't those received"
    done
done

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

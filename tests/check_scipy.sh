#!/bin/sh
# check_scipy.sh: archives that SciPy writes are read, and those that stcvm writes SciPy
# reads: all kinds and types, equal elements, the same kind; and matrices of the real data,
# both ways. Passed over where no python3 has scipy (tests/files has some of its archives,
# for check_packed.c).
set -u
tool=${STCVM:-./build/stcvm}
case $tool in /*) ;; *) tool=$PWD/$tool ;; esac
script=$PWD/tests/scipy_files.py
data=${STC_DATA:-../shared/data}
case $data in /*) ;; *) data=$PWD/$data ;; esac
python=
for p in python3 /usr/bin/python3; do
    [ "$python" ] || ! $p -c 'import scipy.sparse' 2>/dev/null || python=$p
done
if [ -z "$python" ]; then
    echo "check_scipy: no python3 with scipy: skipped"
    exit 0
fi
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
status=0
cases=0
"$python" "$script" write . || exit 1
for npy in *.npy; do
    name=${npy%.npy}
    cases=$((cases + 1))
    differ=$("$tool" eval 'd = sum(i,j: A(i,j) != B(i,j))' A="$name.npz" B="$npy")
    [ "$differ" = 0 ] || { echo "FAILED: $name.npz: $differ elements differ"; status=1; }
    "$tool" convert "$name.npz" "$name.back.npz" || status=1
done
# other formats, fills and orders become csr
made() { # name statement format
    cases=$((cases + 1))
    "$tool" eval "$2" -o A="$1.made.npz" && "$tool" eval "$2" -o A="$1.want.npy" || status=1
}
made dcsr 'tensor A dcsr f32 [5,3] = { (4,1): 2.5 }'
made hash 'tensor A hash i64 [5,3] = { (4,1): 2, (4,0): 7 }'
made bcsr 'tensor A bcsr(2,2) f64 [5,3] = { (4,1): 2, (4,0): 7 }'
made fill 'tensor A csr f64 [5,3] fill 1 = { (4,1): 2, (4,0): 7 }'
made dense 'tensor A dense u8 = [[1,0],[0,3]]'
made vector 'tensor A svec f64 [5] = { (3): 2 }'
made number 'A = 2.5'
for name in 1138_bus ash219 bcspwr01 bfwa62 cage5 chesapeake LFAT5 west0067 GD98_a Trec4 Ragusa16 a0 \
    young1c skew_fp64 lp_afiro fmm_array_hermitian; do
    [ -f "$data/matrices/$name.mtx" ] || continue
    cases=$((cases + 1))
    "$tool" convert "$data/matrices/$name.mtx" "$name.made.npz" &&
        "$tool" convert "$data/matrices/$name.mtx" "$name.want.npy" || status=1
    # and the other way: what SciPy made of the same file
    "$python" "$script" data "$data/matrices/$name.mtx" "$name.npz" || status=1
    differ=$("$tool" eval 'd = sum(i,j: A(i,j) != B(i,j))' A="$name.npz" B="$data/matrices/$name.mtx")
    [ "$differ" = 0 ] || { echo "FAILED: $name by SciPy: $differ elements differ"; status=1; }
done
"$python" "$script" read . || status=1
[ $status = 0 ] && echo "check_scipy: $cases archives agree"
exit $status

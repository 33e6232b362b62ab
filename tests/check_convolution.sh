#!/bin/sh
# check_convolution.sh: the convolutions in samples/, with and without the faster
# tiers, and that the tiers are there: what a layer's loops run on.
set -u
tool=${STCVM:-./build/stcvm}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failures=0

fault() {
    failures=$((failures + 1))
    echo "FAILED $*"
}

# Every line counts wrong elements, but the last, which is a vector.
"$tool" samples/convolution.stc >"$dir/out" 2>&1 ||
    fault "convolution.stc: $(head -3 "$dir/out")"
"$tool" --no-super samples/convolution.stc >"$dir/base" 2>&1
cmp -s "$dir/out" "$dir/base" || fault "convolution.stc differs on base operations"
[ "$(sed '$d' "$dir/out" | sort -u)" = 0 ] || fault "wrong: $(tr '\n' ' ' <"$dir/out")"
[ "$(tail -1 "$dir/out" | tr -s ' ')" = "0 1 -6 2 -5 3 -4 4 -3 5 -2 6 -1" ] ||
    fault "left side: $(tail -1 "$dir/out")"

# Nests that one sparse operand drives, in any order of the loops and any format.
nest() { # text, format of A, what the note must say
    "$tool" explain "$1" "A=$2" F=dense --stage=code 2>/dev/null |
        grep -q "affine nest of $3" || fault "'$1' with A in $2 isn't an affine nest of $3"
}
layer='tensor O dense f64; O(n,h,w,f) = A(n,2*h+r,2*w+q,c) * F(r,q,c,f)'
nest "$layer" dsss "7 -> accumulate"
for format in csr csc dcsr coo; do
    for order in p,q,i,j q,p,i,j p,i,q,j i,j,p,q j,i,q,p i,j,q,p; do
        nest "tensor C dense f64; C(i,j) = A(i+p,j+q) * F(p,q) with reorder($order)" $format "4 -> accumulate"
    done
done

for order in p,q,i,j j,i,q,p; do # a workspace of two indices
    nest "tensor C csr f64; C(i,j) = A(i+p,j+q) * F(p,q) with reorder($order)" csr "4 -> workspace"
done

for order in i,j,p,q i,j,q,p; do # rows of sums, in order
    nest "tensor C csr f64; C(i,j) = A(i+p,j+q) * F(p,q) with reorder($order)" csr "3 -> store"
done

[ $failures = 0 ] && echo "check_convolution: the sample agrees, nests are taken"
exit $failures

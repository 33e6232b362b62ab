#!/bin/sh
# check_cli.sh: every command of the tool, end to end: its exit status, what
# goes to standard output and what to standard error. `make check` runs it with
# STCVM set to the tool; each case is a status, two patterns as in `case`, and
# a command line.
set -u
tool=${STCVM:-./build/stcvm}
case $tool in /*) ;; *) tool=$PWD/$tool ;; esac
programs=$(cd "$(dirname "$0")" && pwd)/programs.stc
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
HOME=$dir
export HOME
cases=0
failures=0

judge() { # name status out err: against $got, out.txt, err.txt
    cases=$((cases + 1))
    out=$(cat out.txt)
    err=$(cat err.txt)
    bad=
    [ "$got" = "$2" ] || bad="exit status $got instead of $2"
    # shellcheck disable=SC2254
    case $out in $3) ;; *) bad="$bad; standard output isn't: $3" ;; esac
    # shellcheck disable=SC2254
    case $err in $4) ;; *) bad="$bad; standard error isn't: $4" ;; esac
    [ -n "$bad" ] || return 0
    failures=$((failures + 1))
    printf 'FAILED %s: %s\n--- out\n%s\n--- err\n%s\n' "$1" "$bad" "$out" "$err"
}

check() { # status out err command…
    status=$1 want_out=$2 want_err=$3
    shift 3
    "$tool" "$@" >out.txt 2>err.txt </dev/null
    got=$?
    judge "stcvm $*" "$status" "$want_out" "$want_err"
}

repl() { # status out err input
    printf "$4" | "$tool" >out.txt 2>err.txt
    got=$?
    judge "repl '$4'" "$1" "$2" "$3"
}

cat >A.mtx <<'END'
%%MatrixMarket matrix coordinate real general
3 3 4
1 1 2
2 3 3
3 2 -1
3 3 0.5
END
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n' >bad.mtx
printf '# no shape\n1 1 1 2.5\n2 3 4 -1\n' >T.tns

# ---- values, and operands that aren't used ------------------------------------
check 0 5 '' eval '2 + 3'
check 0 '3' '' eval 'A(1,2)' A=A.mtx
check 0 '0.5+2j' '' eval 'x = 0.5 + 2j'
check 0 '-1-0.25j' '' eval 'conj(-1 + 0.25j)'
check 1 "*" "*eval: *no statement uses B*" eval "y(i) = A(i,i)" A=A.mtx B=ones
repl 0 '*threads 1*deterministic on*' '' ':set deterministic on\n:set\nexit\n)'
repl 1 '' "*':s' could be :spy, :save or :set*" ':s\n'
repl 0 'A line is*' '' 'help\nquit\n'
# what is printed: digits, tables with columns left out, headers, a note where most is fill
repl 0 '*14.3' '' ':set digits 3\nx = 100 / 7\nx\n'
repl 0 '*3.14159  3.14159*' '' 'tensor A dense f64 [2,2] = 3.141592653\nA\n'
repl 0 '*0  *…*' '' 'tensor A dense f64 [60,60] = 0\nA\n'
repl 0 'dense f64 *60*, 60 stored*(0) 1*(59) 1' '' 'tensor x dense f64 [60] = 1\nx\n'
repl 0 '1+2j' '' 'z = 1 + 2j\nz\n'
repl 0 '*' '*note: 399 of the 400 entries that A stores are its fill; `compact A` drops them*' \
    'tensor x dense f64 [20,20] = 0\nx(0,0) = 1\ntensor A csr f64 [20,20]\nA(i,j) = x(i,j)\nA\n'
repl 0 '1' '*' 'tensor x dense f64 [20,20] = 0\nx(0,0) = 1\ntensor A csr f64 [20,20]\nA(i,j) = x(i,j)\ncompact A\nstored(A)\n'
repl 0 '7' '' 'quit = 7\nquit\n'
LC_ALL=C
export LC_ALL
check 0 '*+---+*|*' '' spy A.mtx
unset LC_ALL

# ---- spy --------------------------------------------------------------------
check 0 'csr f64 *3,3*4 stored*' '' spy A.mtx
check 0 '' '' spy A.mtx -o A.pgm
check 0 5 '' eval 'n = sum(i,j: A(i,j) == 255)' A=A.pgm
check 2 '' '*has to end in .pgm' spy A.mtx -o A.npy
check 2 '' '*takes one -o' spy A.mtx -o A.pgm -o B.pgm
check 2 '' '*has to end in*' spy A.txt
check 1 '' '*nowhere.mtx*' spy nowhere.mtx
check 1 '' '*' spy A.mtx -o nowhere/A.pgm

# ---- eval -------------------------------------------------------------------
spmv='y(i) = A(i,j) * x(j)'
total="$spmv; s = y(i)"
for format in csr csc coo dcsr dcsc dense ds:1,0 '(i,j) -> (j : compressed, i : compressed)'; do
    check 0 4.5 '' eval "$total" "A=A.mtx:$format" x=ones
done
check 0 4.5 '' eval 's = A(i,j)' A=A.mtx
check 0 6.5 '*eval:1:5: note: i, j are summed over the whole term, outside abs; *' \
    eval 's = abs(A(i,j))' A=A.mtx
check 0 6.5 '' eval 's = abs(A(i,j))' A=A.mtx --quiet
check 0 9 '' eval 's = a * A(i,j)' A=A.mtx a=2
check 0 4 '' eval 's = A(i,j)' A=A.mtx:csr:i64
check 0 1.5 '' eval 's = T(i,j,k)' T=T.tns
check 0 '*(2,1)*-1*' '' eval 'B(i,j) = A(i,j)' A=A.mtx
check 0 '4.5' '' eval "$total" A=A.mtx x=ones
check 0 "9
4.5" '' eval 's = A(i,j); t = 2 * s' A=A.mtx -o t -o s
check 0 '' '' eval "$spmv" A=A.mtx x=ones -o y=y.npy
check 0 4.5 '' eval 's = y(i)' y=y.npy
check 0 '' '' eval 'B(i,j) = A(j,i)' A=A.mtx -o B=B.mtx --quiet
check 0 0 '' eval 's = sum(i,j: abs(A(i,j) - B(j,i)))' A=A.mtx B=B.mtx
check 0 3 'time parse *time bind *time plan *time lower *time verify *time load *time run *time save *' \
    eval 's = 3' --time --repeat 5
check 0 4.5 '' eval 's = A(i,j)' A=A.mtx --no-super --threads 2 --max-steps 1000 --max-memory 1G
check 0 0 '' eval 's = min(i,j: A(i,j) + 1)' A=A.mtx:csr:f64:fill=inf
check 0 4.5 '?*' eval 's = A(i,j)' A=A.mtx --profile
check 0 6 '' eval 's += 1' s=5 --repeat 3
check 0 -3+4j '' eval 'c = a * a' a=1+2j

# ---- faults in program or data: 1, with the place and a caret ----------------
check 1 '' 'stcvm: eval:1:*: error: *
  y(i) = A(i,j * x(j)
*^*' eval 'y(i) = A(i,j * x(j)' A=A.mtx x=ones
check 1 '' 'stcvm: eval:*: error: *' eval 's = nowhere(i)'
check 1 '' 'stcvm: bad.mtx:3:*: error: *
  3 1 1
*' eval 's = A(i,j)' A=bad.mtx
check 1 '' 'stcvm: *error: none.mtx: *opened*' eval 's = A(i,j)' A=none.mtx
check 1 '' '*: T.tns: the file holds a tensor of order 3; expected order 2*' \
    eval 's = A(i,j)' A=T.tns:csr
check 1 '' '*: T.tns: the file holds a tensor of order 3; it is used as one of order 2*' \
    eval 's = A(i,j)' A=T.tns
check 1 '' 'stcvm: *: error: *' eval 's = A(i,j)' A=A.mtx -o t
check 1 '' 'stcvm: *: error: *' eval 's = A(i,j)' A=A.mtx -o s=no/such/folder/s.mtx
check 1 '' 'stcvm: *: error: *' eval 's = A(i,j)' A=A.mtx:nonsense
check 1 '' 'stcvm: *: error: *step*' eval 's = sum(i in 0:1000000: i)' --max-steps 10 --no-super
check 1 '' 'stcvm: *: error: *' eval 'x(i) = A(i,j)' A=A.mtx -o x=x.pgm

check 1 '' 'stcvm: *: error: *memory*' eval 'x(i) = A(i,j)' A=A.mtx --max-memory 64K
if [ -w /dev/full ]; then
    "$tool" eval 's = 1' >/dev/full 2>err.txt
    got=$?
    : >out.txt
    judge 'a full disk' 1 '' 'stcvm: *: error: *'
    printf 'tensor x dense i64 [9000]\nx(i) = i\nprint x\n' >long.stc
    "$tool" long.stc >/dev/full 2>err.txt
    got=$?
    judge 'a full disk in the middle' 1 '' '*: error: the output can*be written: *'
fi
printf 'tensor x dense = "%5000s.npy"\n' x >path.stc
check 1 '' '*: error: a path of more than 4095 bytes*' path.stc
mkdir -p folder.stb
check 1 '' '*: error: can*be read: *' run folder.stb

# What messages quote can't tell a terminal what to do; UTF-8 stays readable.
printf '\033[31m\377\302\233µ' >odd.txt
odd=$(cat odd.txt)
quoted='*x1b[[]31m*xff*xc2*x9bµ*'
check 1 '' "$quoted" eval "s = \"$odd\""
check 1 '' "$quoted" "./$odd.stc"
check 1 '' "$quoted" eval 's = A(i)' "A=$odd.mtx"
check 1 '' "$quoted" run "$odd.stb"
check 1 '' "$quoted" eval 's = 1' -o "s=no/$odd.npy"
check 2 '' "$quoted" eval 's = 1' "$odd"
repl 1 '' "$quoted" ":$odd"
repl 1 '' "$quoted" ":load A $odd.mtx"
for text in "s = $odd" "include \"$odd.stc\"" "tensor A dense = \"$odd.npy\""; do
    "$tool" eval "$text" >out.txt 2>err.txt
    cases=$((cases + 1))
    if LC_ALL=C grep -q "$(printf '\033')\\|$(printf '\377')\\|$(printf '\302\233')" err.txt; then
        failures=$((failures + 1))
        echo "FAILED: control characters are shown raw: $text"
    fi
done

# ---- usage: 2, only for what the command line alone shows ---------------------
check 2 '' 'stcvm: usage: *' eval
check 2 '' '*did you mean eval*' evla
check 2 '' '*unknown command*' nonsense
check 2 '' '*unknown option*' eval 's = 1' --nonsense
check 2 '' '*NAME=SOURCE*' eval 's = 1' A
check 2 '' '*is not a source*' eval 's = 1' A=A.txt
check 2 '' '*element type*' eval 's = 1' A=A.mtx:csr:f65
check 2 '' '*fill*' eval 's = 1' A=A.mtx:csr:f64:fill=x
check 2 '' '*given twice*' eval 's = 1' A=1 A=2
check 2 '' '*has to end in*' eval 's = 1' -o s=s.txt
check 2 '' '*--threads*' eval 's = 1' --threads 0
check 2 '' '*--max-memory*' eval 's = 1' --max-memory lots
check 2 '' '*program*' run p.stb A=A.mtx:csr
check 2 '' 'stcvm: run takes bytecode; a script is run by `stcvm s.stc`*' run s.stc
check 2 '' '*-o FILE.stb*' build 's = 1'
check 2 '' '*--stage*' explain 's = 1' --stage=all
check 2 '' '*--stage*' eval 's = 1' --stage=code
check 2 '' '*one operand too many*' dump a.stb b.stb
check 2 '' '*a format is wanted*' build "$spmv" A=A.mtx -o p.stb
check 2 '' '*no operands*' script.stc A=A.mtx
check 2 '' '*has to end in*' info A.txt
check 0 'stcvm *' '' --version
check 0 '*usage:*eval*explain*' '' --help
check 0 'usage: stcvm build*' '' build --help

awk 'BEGIN { print "%%MatrixMarket matrix coordinate real general\n3 200 300"
    for (j = 1; j <= 200; j++) print j % 3 + 1, j, 1
    for (j = 1; j <= 100; j++) print (j + 1) % 3 + 1, j, 2 }' >wide.mtx
awk 'BEGIN { print "%%MatrixMarket matrix coordinate real general\n200 3 200"
    for (j = 1; j <= 200; j++) print j, j % 3 + 1, 1 }' >tall.mtx

# ---- bytecode files -------------------------------------------------------------
check 0 '' '' build "$spmv" A=csr x=dense -o p.stb
check 0 'p.stb: verified' '' verify p.stb
check 0 '*halt*' '' dump p.stb
cp out.txt p.txt
check 0 '' '' asm p.txt -o q.stb
cmp -s p.stb q.stb || { failures=$((failures + 1)); echo 'FAILED: asm of a dump differs'; }
check 0 '' '' run p.stb A=A.mtx x=ones -o y=y2.npy
cmp -s y.npy y2.npy || { failures=$((failures + 1)); echo 'FAILED: run differs from eval'; }
check 0 '*' '*time run *' run p.stb A=A.mtx x=ones --time --repeat 3
check 0 '*operand*A*csr*result*y*' '' info p.stb
check 1 '' 'stcvm: *: error: *x*' run p.stb A=A.mtx
check 1 '' 'stcvm: none.stb: error: *' dump none.stb
head -c 40 p.stb >short.stb
check 1 '' 'stcvm: *short.stb*: error: *' verify short.stb
# the notation is kept, and the plan that was made for data
chain='C(i,l) = A(i,j) * B(j,k) * D(k,l)'
check 0 '' '' build "$chain" A=csr B=csr D=csr -o p.stb
check 0 '*.notation 0x0 *' '' dump p.stb
check 0 '*planned anew for what is bound*' '' explain p.stb
check 0 '' '' build "$chain" A=csr B=csr D=csr --like A=wide.mtx --like B=tall.mtx --like D=wide.mtx \
    -o q.stb
check 0 '*planned for data like some*' '' explain q.stb --stage=plan
check 0 '*.notation 0x????????????* *' '' dump q.stb
check 0 '' '' run p.stb A=wide.mtx B=tall.mtx D=wide.mtx -o C=p.mtx
check 0 '' '' run q.stb A=wide.mtx B=tall.mtx D=wide.mtx -o C=q.mtx
cmp -s p.mtx q.mtx || { failures=$((failures + 1)); echo 'FAILED: plans differ'; }
# a plan for each kind of data; what one name has less than others, it has once
check 0 '' '' build "$chain" A=csr B=csr D=csr --like A=wide.mtx --like B=tall.mtx --like D=wide.mtx \
    --like A=tall.mtx --like B=wide.mtx --like D=tall.mtx -o several.stb
check 0 '*; its file has a plan for data like 0x*' '' dump several.stb
check 0 '*verified*' '' verify several.stb
check 0 '' '' run several.stb A=wide.mtx B=tall.mtx D=wide.mtx -o C=r.mtx
cmp -s p.mtx r.mtx || { failures=$((failures + 1)); echo 'FAILED: several plans differ'; }
check 2 '' '*9 sources; a file keeps plans for 8*' build "$chain" A=csr B=csr D=csr --like A=1 --like A=2 \
    --like A=3 --like A=4 --like A=5 --like A=6 --like A=7 --like A=8 --like A=9 -o q.stb
check 1 '' '*size of mode*' build "$chain" A=csr B=csr D=csr --like A=wide.mtx -o q.stb
check 2 '' '*--like goes with*' run p.stb --like A=wide.mtx
check 2 '' '*no operands*' explain p.stb A=csr
echo nonsense >bad.txt
check 1 '' 'stcvm: bad.txt:1:*: error: *' asm bad.txt -o r.stb
[ ! -e r.stb ] || { failures=$((failures + 1)); echo 'FAILED: a faulty asm left a file'; }

# ---- explain, convert, info -------------------------------------------------------
for stage in ast bound plan lattice code; do
    check 0 '?*' '' explain "$spmv" A=csr x=dense "--stage=$stage"
done
check 0 '*plan*code*' '' explain "$spmv" A=csr x=dense
spgemm='C(i,j) = A(i,k) * B(k,j) with'
check 0 '*w(i,j) collects *scattering of order 2: k, *outside of i;*hash of capacity 7*' '' \
    explain "$spgemm reorder(k,i,j), workspace(hash, 7)" A=csc B=csr --stage=plan
check 0 '*W(j) is computed first, inside i;*asked, coord*for j in W*' '' \
    explain "$spgemm precompute(A(i,k) * B(k,j), W, {j}, coord)" A=csr B=csr --stage=plan
check 0 '*for p0 *for p1 *stand in A.1*' '' explain \
    "$spgemm fuse(i,k,f), pos(f,p,A), split(p,p0,p1,9)" A=csr B=csr --stage=plan
# a format that is converted for it doesn't turn the loops into inner products
for format in ell 'bcsr(4,4)' 'csb(4,4)'; do
    check 0 '*for i *for k *for j *' '' explain "${spgemm% with}" "A=$format" B=csr --stage=plan
done
# counts of which only the truth is asked, said in any way, are any(…)
for ask in '>0' '>=1' '!=0' '==0' '<1' '> 0.0'; do
    check 0 '* or= *' '' explain "y(i) = sum(j: A(i,j)*x(j)) $ask" A=csr:bool x=dense:bool \
        --stage=plan
done
check 0 '* or= *' '' explain 'y(i) = 0 < sum(j: A(i,j)*x(j))' A=csr:bool x=dense:bool --stage=plan
# what is stored is searched for all rows at once; only the rest looks further, row by row
check 0 '*cascade of 3 loops*' '' explain 'y(i) = argmax(j: A(i,j))' A=csr --stage=code
check 0 '*cascade of 4 loops*' '' explain 'y(i,k) = 2 * argmin(j: T(i,k,j)) + x(k)' \
    'T=(i,j,k) -> (i : dense, j : dense, k : compressed)' x=dense --stage=code
check 0 '*ran: y, * entries*us in all*' '' explain --run 'y(i) = A(i,j)*x(j)' A=A.mtx:csr x=ones \
    --stage=plan
check 0 '' '' eval 'tensor B csr f64 [50,50] = random(density=0.3, seed=1)' -o B=B50.mtx
check 0 '*ran: step1, 50 entries, * us*ran: y, 50 entries, * us*us in all*' '' explain --run \
    'y(i) = B(i,j)*B(j,k)*x(k)' B=B50.mtx:csr x=ones --stage=plan
check 0 '*waits for data: * A, x*step: step1(j)*' '' explain 'y(i) = A(i,j)*A(j,k)*x(k)' \
    A=csr x=dense --stage=plan
# with data, without running
check 0 '*step: step1(j)*  about 50 entries*' '' explain 'y(i) = B(i,j)*B(j,k)*x(k)' B=B50.mtx:csr \
    x=ones --stage=plan
# of several statements and loops: each, and what waits; run, what each stored and took
cat >rounds.stc <<E
tensor B csr = "B50.mtx"
tensor x dense f64 [50] = 1
C(i,j) = B(i,k) * B(k,j)
repeat 3 {
    x(i) = B(i,j) * B(j,k) * x(k)
    z = x(0)
}
E
sed 's/x(0)/nobody(0)/' rounds.stc >wrong.stc
check 0 '*:3: C(i,j) = *# C: csr*:4: repeat 3*:5: x(i) = *step: step1(j)*about 50 entries*:6: z = *' '' \
    explain rounds.stc
check 1 '' '*wrong.stc:6:*error: *nobody*' explain wrong.stc
check 0 '*:2: t = *waits for data*: C*step: step1*' '' explain 'C(i,j) = B(i,k)*B(k,j)
t = C(i,j)*B(j,k)*B(k,l)' B=B50.mtx:csr
check 0 '*:3: *ran: C, * us*:5: x(i) = *in a loop*ran: step1, 50 entries, * us*in all*:6: z = *runs * ms * 3 *:5: x(i) = *' \
    '' explain --run rounds.stc
check 1 '' '*one assignment*' explain --run rounds.stc --stage=code
check 0 '*(i,j) = select(*# where (((j > i) & A) | (!((j > i)) & L))*' '' explain \
    'tensor L csr
L(i,j) = A(i,j) where j > i' A=csr --stage=plan
check 2 '' '*--run goes with*' eval 's = 1' --run
check 1 '' '*error: *' explain --run 'y(i) = A(i,j)*x(j)' x=ones
check 1 '' 'stcvm: *: error: *' explain 'y(i) = A(i'
check 0 '' '' convert A.mtx C.mtx csc
check 0 '' '' convert A.mtx D.npy
check 0 '' '' convert A.mtx D.stt csc
check 0 '' '' convert D.stt D.csv
check 0 'i:3,j:3,value:f64*' '' convert D.stt -.csv
check 0 '*3 3 4*' '' convert D.csv -
check 0 '*(2,2) 0.5' '' head D.stt
check 0 '*(0,0) 2*3 more*' '' head D.csv 1
check 2 '' '*number of entries*' head D.csv 0
check 2 '' '*has to end in*' head D.txt
check 0 '*level 0  no arrays*level 1 * positions of 32 bits*values*entries  4, of which 0 are the fill*1 to 2 entries*1 in each: 2 rows*band     1 below the diagonal, 1 above*symmetry places, not values*' \
    '' info D.stt
check 0 '*symmetry places and values*' '' info D.stt dense:bool
for end in mtx tns csv tsv npy npz bsp.npz stt; do
    check 0 '' '' convert A.mtx "back.$end"
    for to in mtx tns csv tsv npy npz bsp.npz stt; do
        check 0 '' '' convert "back.$end" "to.$to"
        check 0 0 '' eval 'd = sum(i,j: A(i,j) != B(i,j))' A=A.mtx B="to.$to"
    done
    cat "back.$end" >pipe.in
    "$tool" eval 'd = sum(i,j: A(i,j) != B(i,j))' A=A.mtx B="-.$end" <pipe.in >out.txt 2>err.txt
    got=$?
    judge "$end from standard input" 0 0 ''
done
check 0 0 '' eval 's = sum(i,j: abs(A(i,j) - C(i,j)) + abs(A(i,j) - D(i,j)))' A=A.mtx C=C.mtx D=D.npy
check 0 '*[[]3,3]*f64*csr*4 *' '' info A.mtx
check 0 '*dense: * times that*' '' info A.mtx rle
printf 'P5\n3 2\n255\naaabbb' >A.pgm
check 0 '' '' convert A.pgm E.pgm lz77
check 0 0 '' eval 's = sum(i,j: abs(A(i,j) - E(i,j)))' A=A.pgm:rle E=E.pgm:lz77
check 0 '' '' convert A.pgm E.ppm
check 0 1755 '' eval 's = E(i,j,k)' E=E.ppm
check 1 '' 'stcvm: bad.mtx:3:*: error: *' info bad.mtx

# ---- scripts -------------------------------------------------------------------------
printf 'tensor A csr = "A.mtx"\ns = A(i,j)\nprint s\n' >good.stc
printf 's = 1\nt = 2 +* 3\n' >faulty.stc
check 0 4.5 '' good.stc
check 1 '' 'stcvm: faulty.stc:2:*: error: *
  t = 2 +\* 3
*^*' faulty.stc
check 1 '' 'stcvm: ./none.stc: error: *' ./none.stc

# ---- the REPL from a pipe ---------------------------------------------------------------
repl 0 4.5 '' 'tensor A csr = "A.mtx"\ns = A(i,j)\ns\n'
repl 0 '' '' ''
repl 0 7 '' 's = 3; t = s + 4\nt'
repl 1 3 'stcvm: stdin:3:*: error: *
  s = = 4
*^*' '# a comment\ns = 3\ns = = 4\ns\n'
repl 1 3 'stcvm: stdin:2:1: error: *' 's = 3\nunknown\ns\n'
repl 0 4.5 '' ':load A A.mtx csr\ns = A(i,\n  j)\ns\n'
repl 0 6 '' 's = 1 +\n  2 *\n  3\nt = s -\n  1\nt\n'
repl 0 4.5 '' ':load A A.mtx csc\ns = \\\nA(i,j)\nprint s\n'
repl 0 'A *csr*' '' ':load A A.mtx\n:list\n'
repl 0 '*┌*┐*' '' ':load A A.mtx\n:spy A\n'
repl 0 'shape    [[]3,3]*f64*csr*stored   4 *bytes*' '' ':load A A.mtx\n:info A\n'
repl 1 '' 'stcvm: stdin:1: error: *name is missing*' ':info\n'
repl 0 '' '' ':load A A.mtx\n:save A E.mtx\n'
check 0 4.5 '' eval 's = E(i,j)' E=E.mtx
repl 0 '*run*in all*' '' ':time s = 3\n'
repl 0 '?*' '' ':load A A.mtx\n:explain s = A(i,j)\n:code s = A(i,j)\n'
repl 0 '*threads 2*' '' ':set threads 2\n:set\n'
repl 0 '*topics*' '' ':help\n'
repl 0 '*sum*' '' ':help indices\n'
repl 0 '*ones, zeros*random(0.01)*' '' ':help tensors\n'
repl 0 '*:spy A*picture*' '' ':help spy\n'
repl 0 '*in `:help expressions`*hypot*' '' ':help hypot\n'
repl 1 '' 'stcvm: stdin:1: error: *' ':nonsense\n'
repl 1 '' 'stcvm: stdin:1:15: error: *' ':explain s = (\n'
repl 1 '' 'stcvm: stdin:1: error: *' ':set threads none\n'
repl 1 '' 'stcvm: none.mtx: error: *' ':load A none.mtx\n'
repl 0 3 '' 's = 3\ns\n:quit\nnonsense nonsense\n'

# ---- counts of which only the truth is asked ----------------------------------
for count in 'bool(sum(j: A(i,j) * X(j,k)))' 'sum(j: A(i,j) * X(j,k)) > 0' \
    'sum(j: A(i,j) && X(j,k)) != 0' 'any(j: A(i,j) * X(j,k))'; do
    check 0 '*= any(j: A(i,j) && X(j,k))*' '' explain "Y(i,k) = $count" \
        A=csr:bool X=dense:bool --stage=bound
done
check 0 '*sum(j: *> 1*' '' explain 'y(i) = sum(j: A(i,j)) > 1' A=csr:bool --stage=bound
check 0 '*sum(j: *> 0*' '' explain 'y(i) = sum(j: A(i,j)) > 0' A=csr:i8 --stage=bound

# ---- programs: a line of what is promised after the other --------------------
for how in '' --no-super '--threads 2'; do
    # shellcheck disable=SC2086
    check 0 'programs: 2 is two' '' "$programs" $how
done

# ---- a window that is too small, where there is a terminal to be had ---------
window() { # keys out: the last is a pattern for what 8 rows show
    (printf '%b' "$1"; sleep 0.3) | TERM=xterm script -qec "stty rows 8 cols 80; $tool" \
        /dev/null >out.txt 2>err.txt </dev/stdin
    got=$?
    judge "window $1" 0 "$2" ''
}
if command -v script >/dev/null; then
    window ':help start\n :quit\n' '*more: space, Enter, q*save C "c.mtx"*'
    window ':help start\n\n\n\nq:quit\n' '*:spy A*more: space*j is not on the left*'
    window ':help start\nq:quit\n' '*A(1,2) + sum*more: space*stcvm> :quit*'
else
    echo "check_cli: skipped: what needs a terminal (no script)"
fi

echo "check_cli: $cases cases, $failures failed"
[ "$failures" = 0 ]

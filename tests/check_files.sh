#!/bin/sh
# check_files.sh: how files are written, and when not at all: new files beside the
# target, links, devices and pipes, modes, signals; sessions that may touch no files.
# `make check` runs it with STCVM set to the tool.
set -u
tool=${STCVM:-./build/stcvm}
case $tool in /*) ;; *) tool=$PWD/$tool ;; esac
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
HOME=$dir
export HOME
umask 022
cases=0
failures=0

holds() { # what command…: counts a case, which holds if the command succeeds
    cases=$((cases + 1))
    what=$1
    shift
    "$@" && return 0
    failures=$((failures + 1))
    echo "FAILED: $what"
}

fails() { # what status words command…: the tool's status, and what it says
    what=$1 status=$2 words=$3
    shift 3
    "$tool" "$@" >out.txt 2>err.txt </dev/null
    got=$?
    holds "$what: exit status $got" [ "$got" = "$status" ]
    holds "$what: $(cat err.txt)" grep -q -e "$words" err.txt
}

mode() { stat -c %a "$1"; }
build() { "$tool" build 's = 1' -o "$1" 2>err.txt; }
content() { # what a file of a kind can hold
    case $1 in
    *pgm*) echo 'tensor y dense u8 = [[1, 2, 3]]' ;;
    *ppm*) echo 'tensor y dense u8 [1,1,3] = { (0,0,2): 7 }' ;;
    *) echo 'tensor y dense = [1, 2, 3]' ;;
    esac
}
save() { "$tool" eval "$(content "$1")" -o "y=$1" 2>err.txt; }
alone() { [ -z "$(find . -name '.stcvm-*' -o -name '*.part' -o -name '*.tmp')" ]; }

kinds="stb npy stt mtx csv tsv npz bsp.npz tns pgm ppm"
build good.stb || exit 1
for end in ${kinds#stb }; do save "good.$end" || exit 1; done
# ---- bytecode and data alike: `build` writes to FILE.stb, `save` to data of every kind ---
for end in $kinds; do
    write=save good=good.$end
    [ "$end" = stb ] && write=build
    holds "$end: a new file has the mode that umask leaves" [ "$(mode "$good")" = 644 ]

    # a link where the old temporary stood names somebody's file
    echo precious >precious
    for old in part tmp; do ln -sf precious "x.$end.$old"; done
    holds "$end: written" "$write" "x.$end"
    holds "$end: what a link names beside it stays" grep -qx precious precious
    rm -f "x.$end".*

    echo older >"m.$end"
    chmod 640 "m.$end"
    holds "$end: replaced" "$write" "m.$end"
    holds "$end: the mode is kept" [ "$(mode "m.$end")" = 640 ]
    holds "$end: complete" cmp -s "$good" "m.$end"

    mkdir -p far
    echo older >"far/l.$end"
    ln -sf "far/l.$end" "l.$end"
    holds "$end: through a link" "$write" "l.$end"
    holds "$end: a link stays one" [ -L "l.$end" ]
    holds "$end: what it names is written" cmp -s "$good" "far/l.$end"

    ln -sf "hop.$end" "d.$end"
    ln -sf "far/new.$end" "hop.$end"
    holds "$end: through links that lead nowhere yet" "$write" "d.$end"
    holds "$end: they stay links" [ -L "d.$end" ] && [ -L "hop.$end" ]
    holds "$end: what they name is there now" cmp -s "$good" "far/new.$end"
    ln -sf "ring.$end" "ring.$end"
    "$write" "ring.$end"
    holds "$end: a ring of links is told" grep -q "ring.$end" err.txt

    ln -sf /dev/null "null.$end"
    holds "$end: to a device" "$write" "null.$end"
    holds "$end: which stays one" [ -c /dev/null ]
    ln -sf /dev/stdout "out.$end"
    "$write" "out.$end" >got
    holds "$end: to standard output, a file" cmp -s "$good" got
    "$write" "out.$end" | cat >got
    holds "$end: to standard output, a pipe" cmp -s "$good" got
    mkfifo "pipe.$end"
    cat "pipe.$end" >got &
    holds "$end: to a pipe with a name" "$write" "pipe.$end"
    wait
    holds "$end: complete there" cmp -s "$good" got
    holds "$end: which stays one" [ -p "pipe.$end" ]
    if [ -w /dev/full ]; then
        ln -sf /dev/full "full.$end"
        "$write" "full.$end"
        holds "$end: a full device" grep -q 'No space' err.txt
    fi
    # a pipe that is closed already ends the process, as any program's, or is an error
    { sleep 0.2; "$write" "out.$end"; echo $? >status; } | true
    case $(cat status) in 1 | 141) ok=true ;; *) ok=false ;; esac
    holds "$end: to a closed pipe: exit status $(cat status)" $ok
    # a disk that has no room left: what was there stays
    echo older >"s.$end"
    command=$(content "$end") # as save and build have them
    holds "$end: no room is an error" sh -c 'ulimit -f 0; trap "" XFSZ
        if [ "$2" = stb ]; then "$1" build "s = 1" -o s.stb; else "$1" eval "$3" -o "y=s.$2"; fi \
            >/dev/null 2>&1; [ $? = 1 ]' - "$tool" "$end" "$command"
    holds "$end: what can't be replaced stays" grep -qx older "s.$end"
    mkdir -p "folder.$end"
    "$write" "folder.$end"
    holds "$end: a folder" grep -q 'Is a directory' err.txt
    if [ "$(id -u)" != 0 ]; then
        chmod 444 "m.$end"
        "$write" "m.$end"
        holds "$end: a file that mustn't be written" grep -q 'Permission denied' err.txt
    fi
    holds "$end: nothing is left behind" alone
done
holds 'build to /dev/stdout' sh -c "'$tool' build 's = 1' -o /dev/stdout | cmp -s - good.stb"

# ---- larger than memory ------------------------------------------------------------------
# Half a million entries take 6 MB, and what is made of them as much again.
same() { # two .stt files: whose arrays may begin elsewhere
    "$tool" convert "$1" one.stt 2>err.txt && "$tool" convert "$2" two.stt 2>err.txt && cmp -s one.stt two.stt
}
make='tensor A csr f64 [50000,40000] = random(density=0.00025, seed=3)'
"$tool" eval "$make" -o A=big.stt || exit 1
for statement in 'y(i) = A(i,j) * x(j)' 'tensor C csc; C(i,j) = A(i,j)' 'tensor C csr; C(j,i) = A(i,j)' \
    'tensor C csr; C(i,j) = A(i,j) + 2 * A(i,j)' 'y(i) = A(i,j)' 'tensor C coo; C(i,j) = A(i,j)'; do
    case $statement in *C*) name=C ;; *) name=y ;; esac
    case $statement in *x*) x=x=ones ;; *) x=-- ;; esac
    # shellcheck disable=SC2086
    for threads in 1 3; do
        "$tool" eval "$statement" A=big.stt -o $name=whole.stt --threads=$threads $x 2>err.txt
        "$tool" eval "$statement" A=big.stt -o $name=parts.stt --threads=$threads \
            --max-memory 5M --spill . $x 2>>err.txt
        holds "in 5 MB, $threads threads: $statement: $(cat err.txt)" same whole.stt parts.stt
    done
done
fails 'a cap without a folder' 1 'would exceed the cap.*with a folder to spill to' \
    eval 'tensor C csr; C(j,i) = A(i,j)' A=big.stt -o C=none.npz --max-memory 5M
fails 'what is small lies in no file' 1 'would exceed the cap.*only arrays from 65536 bytes on' \
    eval 'tensor C csr; C(j,i) = A(i,j)' A=big.stt -o C=none.stt --max-memory 100K
mkdir there
for there in parts.stt ./parts.stt there/parts.stt "$PWD/there/parts.stt"; do
    rm -f "$there"
    "$tool" eval 'tensor C csc; C(i,j) = A(i,j)' A=big.stt -o C=whole.stt
    "$tool" eval 'tensor C csc; C(i,j) = A(i,j)' A=big.stt -o C="$there" --max-memory 5M 2>err.txt
    holds "the folder of $there: $(cat err.txt)" same whole.stt "$there"
done
echo older >there/kept.stt
chmod 640 there/kept.stt
ln -sf there/kept.stt parts.stt
spilled() { "$tool" eval 'tensor C csc; C(i,j) = A(i,j)' A=big.stt -o C=parts.stt --max-memory 5M "$@" 2>err.txt; }
(ulimit -f 7000; trap '' XFSZ; spilled)
holds "a limit on files: $(cat err.txt)" grep -qx older there/kept.stt
holds "over a file, through a link: $(cat err.txt)" spilled --spill there
holds 'the link stays one' [ -L parts.stt ]
holds 'the mode is kept' [ "$(mode there/kept.stt)" = 640 ]
holds 'the file is that of memory' same whole.stt there/kept.stt
rm parts.stt
"$tool" convert big.stt whole.mtx && "$tool" convert whole.mtx whole.stt
holds 'converted in 5 MB' "$tool" convert whole.mtx parts.stt --max-memory 5M
holds 'to the same' same whole.stt parts.stt
fails 'a folder that is not there' 1 'in a file of nowhere: No such file' \
    eval 'tensor C csr; C(j,i) = A(i,j)' A=big.stt -o C=none.stt --max-memory 5M --spill nowhere
holds 'nothing is left in the folder' alone
holds 'and no result of what failed' [ ! -e none.stt ]

# ---- signals -----------------------------------------------------------------------------
# A pipe that nobody reads makes the tool wait in the middle of writing.
ended() { # waits for a process, at most 10 s
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        kill -0 "$1" 2>/dev/null || return 0
        sleep 0.5
    done
    return 1
}
mkfifo idle.npy
for signal in TERM HUP INT; do
    # a shell's background jobs ignore SIGINT until they say otherwise
    "$tool" eval 'tensor y dense = [1, 2, 3]' -o y=idle.npy 2>err.txt &
    child=$!
    sleep 0.3
    kill -$signal $child
    holds "$signal ends a wait for a pipe's reader" ended $child
    kill -KILL $child 2>/dev/null # under nohup, HUP is ignored
    wait $child
    status=$?
    case $signal in TERM) want=143 ;; HUP) want=129 ;; INT) want=1 ;; esac
    holds "$signal: exit status $status" [ "$status" = $want ]
done
# Some 100 MB of text, stopped while its temporary is there.
printf 'tensor A dense f64 [4000,3000] = 0.1\nsave A "slow.mtx"\n' >slow.stc
for signal in TERM HUP INT; do
    rm -f slow.mtx
    "$tool" slow.stc 2>err.txt &
    child=$!
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        alone || break
        kill -0 $child 2>/dev/null || break
        sleep 0.1
    done
    kill -$signal $child 2>/dev/null
    holds "$signal ends writing" ended $child
    wait $child
    holds "$signal: no temporary is left" alone
    holds "$signal: no half of a file is there" [ ! -e slow.mtx ]
done

# ---- standard output ---------------------------------------------------------------------
if [ -w /dev/full ]; then
    for words in --help --version 'build --help' 'dump good.stb' 'verify good.stb' \
        'info good.npy' 'spy good.npy' 'explain s=1' 'eval s=1'; do
        # shellcheck disable=SC2086
        "$tool" $words >/dev/full 2>err.txt
        got=$?
        holds "$words on a full disk: exit status $got" [ $got = 1 ]
        holds "$words on a full disk: a message" grep -q "can't be written: No space" err.txt
    done
    echo ':help' | "$tool" >/dev/full 2>err.txt
    holds ':help on a full disk' [ $? = 1 ]
fi

# ---- sessions that may touch no files -------------------------------------------------------
printf 's = 1\ninclude "x.stc"\n' >include.stc
printf 's = 1\ntensor A dense = "good.npy"\n' >read.stc
printf 'tensor s dense = [1]\nsave s "saved.npy"\n' >save.stc
printf 'repeat 2 { tensor s dense = [1]\n save s "saved.npy" }\n' >nested.stc
echo 't = 2' >x.stc
for script in include read save nested; do
    holds "$script" "$tool" $script.stc
    rm -f saved.npy
    fails "$script with --no-files" 1 "$script.stc:2:[0-9]*: error: .*may not read or write" \
        --no-files $script.stc
    holds "$script: nothing was written" [ ! -e saved.npy ]
done
fails 'eval with --no-files' 1 'eval:1:[0-9]*: error: .*may not read or write' \
    eval 'save s "saved.npy"' s=1 --no-files
holds 'operands and -o are the user'\''s own' \
    "$tool" eval --no-files 'y(i) = x(i)' x=good.npy -o y=again.npy
holds 'and written' cmp -s good.npy again.npy
printf ':load x good.npy\n' | "$tool" --no-files 2>err.txt
holds ':load' grep -q 'stdin:1: error: :load.*may not read or write' err.txt
printf 's = 1\n:save s saved.npy\n' | "$tool" --no-files 2>err.txt
holds ':save' grep -q 'stdin:2: error: :save.*may not read or write' err.txt
holds 'nothing was saved' [ ! -e saved.npy ]

echo "check_files: $cases cases, $failures failed"
[ "$failures" = 0 ]

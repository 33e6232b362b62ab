#!/bin/sh
# check_messages.sh: what users are told: the errors of the language and of the
# REPL, to the letter. tests/messages.txt has one case a paragraph: the input,
# each line after "> ", then what is said, each on a fresh stcvm.
#   UPDATE=1 writes down what is said now; look at the difference before you keep it.
set -u
tool=${STCVM:-./build/stcvm}
case $tool in /*) ;; *) tool=$PWD/$tool ;; esac
want=$PWD/tests/messages.txt
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
ln -s "$PWD/tests/bad" "$dir/bad"
ln -s "$PWD/tests/files" "$dir/files"
cd "$dir" || exit 1
mkdir folder.mtx
printf 'x = 1\0\n' >bytes.stc
HOME=$dir
export HOME

cases=0
: >input
: >said
answer() {
    [ -s input ] || return 0
    [ "$cases" = 0 ] || echo >>said
    sed 's/^/> /' input >>said
    "$tool" <input 2>&1 >/dev/null | sed 's/[[:space:]]*$//' >>said
    cases=$((cases + 1))
    : >input
}
while IFS= read -r line; do
    case $line in
    '> '*) printf '%s\n' "${line#> }" >>input ;;
    '') answer ;;
    esac
done <"$want"
answer

if [ "${UPDATE:-}" ]; then
    cp said "$want"
elif ! diff -u "$want" said; then
    echo "check_messages: not what is said now; if the change is meant, run it with UPDATE=1"
    exit 1
fi
echo "check_messages: $cases cases say what they said"

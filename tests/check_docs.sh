#!/bin/sh
# check_docs.sh: what the documents say is so. Every block marked `stc` in
# src/lang/README.md and samples/TUTORIAL.md is run, and must print what the block after it
# shows, as must the commands in those marked `sh`; blocks marked `err` must fail with the
# message after them; every command of the REPL is told of. `make check` runs it with STCVM
# set to the tool; with UPDATE=1 it writes what was printed into the documents.
set -u
tool=${STCVM:-./build/stcvm}
case $tool in /*) ;; *) tool=$PWD/$tool ;; esac
root=$PWD
doc=$root/${DOC:-src/lang/README.md}
man=$root/src/cli/stcvm.1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
cp -r "$root/samples" samples
mkdir bin && ln -s "$tool" bin/stcvm
PATH=$dir/bin:$PATH

# Blocks go to NUMBER.stc or NUMBER.err, what follows them to NUMBER.want.
awk '/^```(stc|err|sh)$/ { file = ++n "." substr($0, 4); next }
     /^```text$/      { file = n ".want"; next }
     /^```$/          { file = ""; next }
     file             { print > file }' "$doc"

run() { # block: what the tool prints, in NUMBER.got
    number=${1%.*}
    mv "$1" doc.stc
    case $1 in
    *.sh) sh doc.stc >out.txt 2>err.txt </dev/null ;;
    *) "$tool" --quiet doc.stc >out.txt 2>err.txt </dev/null ;;
    esac
    status=$?
    cat out.txt err.txt >"$number.got"
    case $1:$status in
    *.stc:0 | *.sh:0 | *.err:1) ;;
    *) echo "FAILED $1: exit status $status" >>"$number.got" ;;
    esac
    mv doc.stc "$number.was"
    touch "$number.want"
}

blocks=0
failures=0
for block in [0-9]*.stc [0-9]*.err [0-9]*.sh; do
    [ -f "$block" ] || continue
    run "$block"
    blocks=$((blocks + 1))
    cmp -s "$number.want" "$number.got" && continue
    failures=$((failures + 1))
    [ "${UPDATE:-}" ] || { echo "FAILED:"; cat "$number.was"; diff "$number.want" "$number.got"; }
done

if [ "${UPDATE:-}" ]; then
    awk 'skip               { skip = $0 != "```"; next }
         after && /^```text/{ skip = 1; next }
         after && /^$/      { next }
         after              { print ""; after = 0 }
         /^```(stc|err|sh)$/   { n++; inside = 1; print; next }
         /^```$/ && inside  {
             print "```\n\n```text"
             while ((getline line < (n ".got")) > 0) print line
             print "```"; inside = 0; after = 1; next
         }
         { print }' "$doc" >new.md
    cat new.md >"$doc"
    echo "check_docs: $failures of $blocks blocks written anew"
    [ "${DOC:-}" ] || { cd "$root" && DOC=samples/TUTORIAL.md exec sh tests/check_docs.sh; }
    exit 0
fi
if [ "${DOC:-}" ]; then
    [ "$failures" = 0 ] || { echo "check_docs: $failures of $blocks blocks of $DOC failed"; exit 1; }
    echo "check_docs: $blocks blocks of $DOC are as they say"
    exit 0
fi
# Every command of the REPL stands in the reference and on the manual page.
for command in $(echo ':help commands' | "$tool" | sed -n 's/^  \(:[a-z]*\) .*/\1/p'); do
    blocks=$((blocks + 1))
    grep -q "^| .$command" "$doc" && grep -q "[\" ]$command" "$man" && continue
    echo "FAILED: $command isn't in src/lang/README.md, or not in src/cli/stcvm.1"
    failures=$((failures + 1))
done

# Every built-in format (format_names.c has the one table) stands wherever they are listed.
for name in $(sed -n '/builtins\[\] = {/,/^};/s/^    {"\([a-z0-9]*\)".*/\1/p' "$root/formats/format_names.c"); do
    blocks=$((blocks + 1))
    echo ':help formats' | "$tool" | grep -qw "$name" && grep -q "\`$name[\`(]" "$doc" &&
        grep -qw "$name" "$root/README.md" && continue
    echo "FAILED: the format $name isn't in src/lang/README.md, README.md, or :help formats"
    failures=$((failures + 1))
done

(cd "$root" && DOC=samples/TUTORIAL.md sh tests/check_docs.sh) || failures=$((failures + 1))
[ "$failures" = 0 ] || { echo "check_docs: $failures of $blocks blocks failed"; exit 1; }
echo "check_docs: $blocks blocks and commands of the language reference are as they say"

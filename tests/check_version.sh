#!/bin/sh
# check_version.sh: the header's version, its numbers, the Makefile's and the tool's are one.
#   usage: STCVM=build/stcvm sh tests/check_version.sh
set -u
tool=${STCVM:-./build/stcvm}
number() { sed -n "s/^#define STC_VERSION_$1 //p" include/stcvm.h; }
want=$(number MAJOR).$(number MINOR).$(number PATCH)
status=0
same() { # what, it
    [ "$2" = "$want" ] && return
    echo "FAILED: $1 is '$2'; the header's numbers are $want"
    status=1
}
same "STC_VERSION" "$(sed -n 's/^#define STC_VERSION "\(.*\)"/\1/p' include/stcvm.h)"
same "the Makefile's VERSION" "$(MAKEFLAGS='' make -s --no-print-directory version)"
same "the tool's" "$("$tool" --version | sed 's/^stcvm //')"
[ $status = 0 ] && echo "check_version: $want everywhere"
exit $status

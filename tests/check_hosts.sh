#!/bin/sh
# check_hosts.sh: the samples for C++ and Lua, built and run; each ends with an error if anything
# isn't as it should be. What isn't installed is skipped, and said so.
# usage: BUILD=build sh tests/check_hosts.sh
set -eu
build=${BUILD:-build}
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT
case $build in *-san* | *-tsan* | *-m32* | *-cov*)
    echo "check_hosts: skipped in $build" && exit 0 ;;
esac
none=true
for cxx in g++ clang++; do
    command -v $cxx >/dev/null || continue
    $cxx -std=c++17 -O1 -Wall -Wextra -Werror -Iinclude -o "$tmp/cpp" samples/cpp/demo.cpp \
        "$build/libstcvm.a" -lm -pthread
    "$tmp/cpp" >"$tmp/out" || { cat "$tmp/out"; echo "check_hosts: $cxx FAILED"; exit 1; }
    none=false
done
! $none || echo "check_hosts: C++ skipped, there is no compiler"
lua=/usr/include/lua5.4
if command -v lua5.4 >/dev/null && [ -f $lua/lua.h ]; then
    ${CC:-cc} -std=gnu17 -O1 -Wall -Wextra -Werror -shared -fPIC -Iinclude -I$lua \
        -o "$tmp/stcvm_lua.so" samples/lua/stcvm_lua.c "$build/libstcvm.a" -lm -pthread
    LUA_CPATH=$tmp/?.so lua5.4 samples/lua/demo.lua
else
    echo "check_hosts: Lua skipped, there is no lua5.4 with liblua5.4-dev"
fi
echo "check_hosts: passed"

#!/bin/sh
# run.sh PREFIX CC: builds every sample against the stcvm installed below PREFIX,
# with what pkg-config says and nothing else, and runs it. What needs a tool that
# isn't here is skipped, and said so. `make samples` calls it.
set -eu
prefix=$1 cc=$2
here=$(cd "$(dirname "$0")" && pwd)
out=$prefix/samples
mkdir -p "$out"
PKG_CONFIG_PATH=$prefix/lib/pkgconfig
LD_LIBRARY_PATH=$prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export PKG_CONFIG_PATH LD_LIBRARY_PATH
if command -v pkg-config >/dev/null; then
    flags=$(pkg-config --cflags --libs stcvm)
else
    echo "(pkg-config isn't here: its flags are written out)"
    flags="-I$prefix/include -L$prefix/lib -lstcvm"
fi
has() { command -v "$1" >/dev/null; }
skip() { echo "== $1: skipped, there is no $2"; }
cd "$here"

for c in *.c; do
    echo "== $c"
    # shellcheck disable=SC2086
    $cc -std=gnu17 -O2 -Wall -Wextra -o "$out/${c%.c}" "$c" $flags -lm -pthread
    "$out/${c%.c}" </dev/null 2>&1
done

if ! echo '#include <sqlite3ext.h>' | $cc -E - >/dev/null 2>&1; then
    skip sqlite "sqlite3ext.h (libsqlite3-dev)"
elif ! has sqlite3; then
    skip sqlite sqlite3
else
    echo "== sqlite, with SQLite $(sqlite3 --version | cut -d' ' -f1)"
    # shellcheck disable=SC2086
    $cc -std=gnu17 -O2 -Wall -Wextra -shared -fPIC -o "$out/stcvm_sqlite.so" \
        sqlite/stcvm_sqlite.c $flags
    # The last statement is a mistake, on purpose.
    sqlite3 -batch -init /dev/null -cmd ".load $out/stcvm_sqlite" :memory: \
        <sqlite/demo.sql 2>&1 || :
fi

python=
for p in python3 /usr/bin/python3; do
    if has $p && $p -c 'import numpy, scipy, setuptools, sysconfig, os
os.stat(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null; then
        python=$p && break
    fi
done
if [ -z "$python" ]; then
    skip python "Python with its headers, setuptools, NumPy and SciPy"
else
    echo "== python"
    rm -rf "$out/python" "$out/python-lib" && cp -r python "$out/python"
    (cd "$out/python" && STCVM_ROOT=$prefix STCVM_LIB=$prefix/lib/libstcvm.a \
        $python -W ignore setup.py -q build --build-lib "$out/python-lib" >/dev/null)
    cp python/demo.py "$out/demo.py"
    PYTHONPATH=$out/python-lib PYTHONDONTWRITEBYTECODE=1 $python "$out/demo.py"
fi

cxx=
for c in c++ g++ clang++; do [ -n "$cxx" ] || ! has $c || cxx=$c; done
if [ -z "$cxx" ]; then
    skip cpp "C++ compiler"
else
    echo "== cpp"
    # shellcheck disable=SC2086
    $cxx -std=c++17 -O2 -Wall -Wextra -o "$out/cpp" cpp/demo.cpp $flags -lm
    "$out/cpp"
fi

if ! has lua5.4 || [ ! -f /usr/include/lua5.4/lua.h ]; then
    skip lua "lua5.4 with liblua5.4-dev"
else
    echo "== lua"
    # shellcheck disable=SC2086
    $cc -std=gnu17 -O2 -Wall -Wextra -shared -fPIC -I/usr/include/lua5.4 \
        -o "$out/stcvm_lua.so" lua/stcvm_lua.c $flags
    LUA_CPATH=$out/?.so lua5.4 lua/demo.lua
fi

if ! has mpicc || ! has mpirun; then
    skip mpi mpicc
else
    echo "== mpi"
    # shellcheck disable=SC2086
    mpicc -std=gnu17 -O2 -Wall -Wextra -o "$out/rows" mpi/rows.c $flags -lm
    # Containers are root, which Open MPI wants to be told of.
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    mpirun -n 2 "$out/rows"
    # shellcheck disable=SC2086
    mpicc -std=gnu17 -O2 -Wall -Wextra -o "$out/stcvm-mpi" mpi/[efsv]*.c $flags -lm
    mpirun -n 2 "$out/stcvm-mpi" mpi/plate.stc
fi

#!/bin/sh
# check_python.sh: the Python package of samples/python, built in a temporary folder as
# pip builds it, and its tests. Passed over where what it needs isn't here.
set -u
root=$PWD
build=${BUILD:-build}
lib=$root/$build/libstcvm.a
skip() { echo "check_python: skipped, no $1"; exit 0; }
[ -f "$lib" ] || skip "$build/libstcvm.a"
case $(nm "$lib" 2>/dev/null | grep -o -m1 -E '__asan_init|__tsan_init|__gcov_init') in
?*) skip "plain build of libstcvm.a (Python's own can't load this one)" ;;
esac
python=
for p in python3 /usr/bin/python3; do
    [ -n "$python" ] || ! $p -c 'import numpy, scipy, setuptools, sysconfig, os, sys
assert sys.version_info >= (3, 11)
os.stat(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null || python=$p
done
[ -n "$python" ] || skip "python3 >= 3.11 with its headers, NumPy, SciPy and setuptools"
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cp -r samples/python "$dir/source" || exit 1
export STCVM_ROOT="$root" STCVM_LIB="$lib" PYTHONDONTWRITEBYTECODE=1
if $python -m pip --version >/dev/null 2>&1 && $python -c 'import wheel' 2>/dev/null; then
    $python -m pip install -q --no-build-isolation --no-deps --no-index --root-user-action \
        ignore --target "$dir/lib" "$dir/source" >"$dir/log" 2>&1
else
    (cd "$dir/source" && $python -W ignore setup.py -q build --build-lib "$dir/lib") \
        >"$dir/log" 2>&1
fi
# shellcheck disable=SC2181
if [ $? != 0 ] || grep -q 'warning: .*\[-W' "$dir/log"; then
    cat "$dir/log"
    if nm "$lib" 2>/dev/null | grep -q . && grep -q 'incompatible' "$dir/log"; then
        skip "libstcvm.a of Python's own architecture"
    fi
    echo "check_python: FAILED to build"
    exit 1
fi
cp samples/python/demo.py "$dir" && cd "$dir" || exit 1
PYTHONPATH=$dir/lib timeout 300 "$python" -m unittest discover -s "$root/samples/python/tests" \
    >"$dir/log" 2>&1 || { cat "$dir/log"; echo "check_python: FAILED"; exit 1; }
PYTHONPATH=$dir/lib "$python" "$dir/demo.py" >"$dir/demo.out" 2>&1 ||
    { cat "$dir/demo.out"; echo "check_python: demo.py FAILED"; exit 1; }
echo "check_python: $(sed -n 's/^Ran \([0-9]*\) tests.*/\1/p' "$dir/log") tests passed"

"""calls.py: what a call from Python costs beside the same call from C, and beside SciPy's.

    make python && PYTHONPATH=build/python /usr/bin/python3 tests/bench/calls.py

A prepared product of a 10 x 10 matrix with a vector; the C call is timed by a small program
that is compiled here, in the same minute. Microseconds of the processor, the least of many
turns. PyData/Sparse is beside them where it is installed.
"""
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
import scipy.sparse as sp

import stcvm

TEXT, CALLS, TURNS = "y(i) = A(i,j) * x(j)", 2000, 41
C = r"""
#include <stcvm.h>
#include <stdio.h>
#include <time.h>
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}
int main(void)
{
    stc_machine *m;
    stc_program *p;
    stc_tensor *A, *x;
    const stc_decl d[] = {{.name = "A", .format = "csr"}, {.name = "x"},
                          {.name = "y", .format = "dense"}};
    const int64_t shape[2] = {10, 10};
    int64_t coords[60];
    double values[30], best = 1e9;
    for (int e = 0; e < 30; e++) {
        coords[e] = e / 3;
        coords[30 + e] = (e * 7 + e / 3) % 10;
        values[e] = e;
    }
    if (stc_open(NULL, &m) || stc_compile(m, "TEXT", d, 3, &p) ||
        stc_tensor_from_coords(m, "csr", STC_F64, 2, shape, NULL, 30, coords, values, &A) ||
        stc_tensor_from_dense(m, "dense", STC_F64, 1, shape, NULL, values, &x))
        return 1;
    for (int turn = 0; turn < TURNS; turn++) {
        const double begin = now();
        for (int k = 0; k < CALLS; k++)
            if (stc_bind(p, "A", A) || stc_bind(p, "x", x) || stc_run(p)) return 1;
        const double t = (now() - begin) / CALLS;
        if (t < best) best = t;
    }
    printf("%f\n", best);
    return 0;
}
"""


def in_c(root):
    with tempfile.TemporaryDirectory() as folder:
        source, tool = os.path.join(folder, "call.c"), os.path.join(folder, "call")
        with open(source, "w") as f:
            f.write(C.replace("TEXT", TEXT).replace("TURNS", str(TURNS))
                    .replace("CALLS", str(CALLS)))
        subprocess.run(["cc", "-std=gnu17", "-O2", "-I", root + "/include", "-o", tool, source,
                        root + "/build/libstcvm.a", "-lm", "-pthread"], check=True)
        return float(subprocess.run([tool], check=True, capture_output=True).stdout)


def least(call):
    best = float("inf")
    for _ in range(TURNS):
        begin = time.process_time()
        for _ in range(CALLS):
            call()
        best = min(best, (time.process_time() - begin) / CALLS)
    return 1e6 * best


def main():
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    A = sp.random(10, 10, density=0.3, format="csr", random_state=1)
    x, T = np.arange(10.0), stcvm.Tensor(A)
    f, g = stcvm.compile(TEXT, A=A, x=x), stcvm.compile(TEXT, A=T, x=x)
    rows = [("the C call", in_c(root)), ("prepared, of a stcvm.Tensor", least(lambda: g(T, x))),
            ("prepared, of SciPy's matrix", least(lambda: f(A, x))),
            ("by text: stcvm.eval", least(lambda: stcvm.eval(TEXT, A=A, x=x))),
            ("SciPy: A @ x", least(lambda: A @ x))]
    try:
        import sparse
        S = sparse.COO.from_scipy_sparse(A)
        rows.append(("PyData/Sparse: S @ x", least(lambda: S @ x)))
    except ImportError:
        print("PyData/Sparse isn't installed")
    for what, us in rows:
        print("%-32s %6.2f us" % (what, us))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""scipy_files.py: archives of scipy.sparse, for check_scipy.sh, which runs it twice.

    scipy_files.py write FOLDER   writes matrices of all kinds and types, and what they hold
    scipy_files.py data MTX NPZ    writes what SciPy reads of a Matrix Market file, in a kind
                                   that its name chooses
    scipy_files.py read FOLDER    compares what stcvm wrote to NAME.back.npz with the same
"""
import glob
import sys
import numpy
import scipy.io
import scipy.sparse


def matrices():
    rng = numpy.random.default_rng(7)
    dense = rng.integers(-3, 4, (6, 8)) * (rng.random((6, 8)) < 0.4)
    for kind in 'csr csc coo bsr dia'.split():
        for code in '? i1 i2 i4 i8 u1 u2 u4 u8 f4 f8 c8 c16'.split():
            m = dense.astype(code) * (numpy.array(1 + 2j, code) if code[0] == 'c' else 1)
            m = numpy.asarray(m, code)
            made = (scipy.sparse.bsr_matrix(m, blocksize=(2, 4)) if kind == 'bsr'
                    else getattr(scipy.sparse, kind + '_matrix')(m))
            yield kind + '_' + code.replace('?', 'b1'), made, True
        empty = numpy.zeros((4, 4))
        yield kind + '_empty', getattr(scipy.sparse, kind + '_matrix')(empty), False
    # duplicates, unsorted, entries that are zero
    yield 'coo_twice', scipy.sparse.coo_matrix(
        ([1.0, 2.0, 0.0, 5.0], ([3, 3, 0, 1], [2, 2, 1, 0])), (5, 4)), True
    csr = scipy.sparse.csr_matrix((numpy.array([1.0, 2.0, 3.0]), numpy.array([3, 0, 3]),
                                   numpy.array([0, 2, 2, 3])), (3, 4))
    yield 'csr_unsorted', csr, False
    wide = scipy.sparse.csr_matrix(dense.astype(float))
    wide.indptr, wide.indices = wide.indptr.astype('i8'), wide.indices.astype('i8')
    yield 'csr_wide', wide, True


def same(name, a, b):
    a, b = a.toarray(), b.toarray()
    if a.shape != b.shape or a.dtype != b.dtype or not (a == b).all():
        print('FAILED', name, a.dtype, b.dtype)
        return False
    return True


def main(what, folder, to=None):
    good = True
    if what == 'data':
        m = scipy.io.mmread(folder)
        kind = ('csr', 'csc', 'coo', 'bsr')[sum(map(ord, to)) % 4]
        scipy.sparse.save_npz(to, scipy.sparse.coo_matrix(m).asformat(kind))
        return
    for name, m, packed in matrices():
        path = f'{folder}/{name}'
        if what == 'write':
            scipy.sparse.save_npz(path + '.npz', m, compressed=packed)
            numpy.save(path + '.npy', m.toarray())
            continue
        back = scipy.sparse.load_npz(path + '.back.npz')
        good &= same(name, m, back)
        if back.format != m.format:
            print('FAILED', name, 'is', back.format)
            good = False
    if what == 'read':
        for path in sorted(glob.glob(folder + '/*.made.npz')):
            back = scipy.sparse.load_npz(path)
            want = numpy.load(path.replace('.made.npz', '.want.npy'))
            good &= same(path, back, scipy.sparse.csr_matrix(want.reshape(back.shape)))
    sys.exit(not good)


main(*sys.argv[1:])

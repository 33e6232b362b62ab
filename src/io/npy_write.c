/* npy_write.c: writes NumPy's arrays: as files, and for archives (npy.c has the format).
 */
#include "npy.h"
#include "output.h"

/* Version 1: magic, length and header together a multiple of 64 bytes. */
int npy_header(char text[NPY_HEADER], const char *descr, int order, const int64_t *shape)
{
    enum { BEFORE = 10 };
    int n = BEFORE;
    n += snprintf(text + n, (size_t)(NPY_HEADER - n),
                  "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    for (int k = 0; k < order; k++)
        n += snprintf(text + n, (size_t)(NPY_HEADER - n), "%s%lld%s", k ? " " : "",
                      (long long)shape[k], k + 1 < order || order == 1 ? "," : "");
    n += snprintf(text + n, (size_t)(NPY_HEADER - n), "), }");
    const int total = (n + 1 + 63) / 64 * 64, length = total - BEFORE;
    memset(text + n, ' ', (size_t)(total - n));
    text[total - 1] = '\n';
    memcpy(text, "\x93NUMPY\1\0", 8);
    text[8] = (char)(length & 255);
    text[9] = (char)(length >> 8);
    return total;
}

stc_status npy_write(const tensor *t, const char *path)
{
    output o;
    stc_status s = output_open(&o, t->cx, path);
    if (s) return s;
    dense_view d;
    char header[NPY_HEADER], descr[NPY_DESCR];
    if (!(s = dense_open(t, &d))) {
        npy_descr(t->type, descr);
        const int n = npy_header(header, descr, t->order, t->shape);
        const size_t size = (size_t)d.count * type_size(t->type);
        o.total = n + (int64_t)size;
        output_bytes(&o, header, (size_t)n);
        output_bytes(&o, d.vals, size);
        dense_close(&d);
    }
    return output_close(&o, s);
}

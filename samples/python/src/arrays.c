/* arrays.c: arrays and numbers of Python as stcvm sees them, and back: types of
 * buffers, arrays over memory of stcvm's, copies, numbers, shapes.
 */
#include "stcvm_py.h"
#include <string.h>

/* Native formats only; '=' and '@' may stand before them, and '<' on machines of
 * that order isn't what NumPy says of its own arrays. */
int py_array_type(const Py_buffer *b)
{
    const char *f = b->format ? b->format : "B";
    if (*f == '@' || *f == '=') f++;
    const bool complex = *f == 'Z';
    if (complex) f++;
    if (!*f || f[1]) return -1;
    if (complex) return *f == 'f' ? STC_C64 : *f == 'd' ? STC_C128 : -1;
    if (*f == '?') return STC_BOOL;
    if (*f == 'f') return STC_F32;
    if (*f == 'd') return STC_F64;
    const bool is_signed = strchr("bhilqn", *f), is_unsigned = strchr("BHILQN", *f);
    if (!is_signed && !is_unsigned) return -1;
    const int first = is_signed ? STC_I8 : STC_U8;
    switch (b->itemsize) {
    case 1:
        return first;
    case 2:
        return first + 1;
    case 4:
        return first + 2;
    case 8:
        return first + 3;
    default:
        return -1;
    }
}

int py_array_index_width(const Py_buffer *b)
{
    const int type = py_array_type(b);
    const int width = type == STC_I32 ? 4 : type == STC_I64 ? 8 : 0;
    if (!width || b->ndim != 1 || (uintptr_t)b->buf % (unsigned)width) return 0;
    const bool fits =
        b->shape[0] < 2 ||
        (b->strides[0] >= width && b->strides[0] % width == 0 && b->strides[0] < INT32_MAX);
    return fits ? width : 0;
}

/* ---- memory of stcvm's, shown as a buffer ------------------------------- */

typedef struct view_object {
    PyObject_HEAD PyObject *owner;
    void *data;
    Py_ssize_t size;
    bool fixed; /* nobody writes there */
} view_object;

static void view_dealloc(PyObject *self)
{
    Py_XDECREF(((view_object *)self)->owner);
    py_object_free(self);
}

static int view_buffer(PyObject *object, Py_buffer *b, int flags)
{
    view_object *self = (view_object *)object;
    return PyBuffer_FillInfo(b, object, self->data, self->size, self->fixed, flags);
}

static PyType_Slot view_slots[] = {
    {Py_tp_dealloc, view_dealloc},
    {Py_bf_getbuffer, view_buffer},
    {Py_tp_doc, "Memory that belongs to a tensor."},
    {0, NULL},
};

PyType_Spec py_view_spec = {"stcvm._stcvm.View", sizeof(view_object), 0,
                            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                            view_slots};

PyObject *py_array_empty(module_state *st, int order, const int64_t *shape, stc_type type,
                         Py_buffer *b)
{
    PyObject *tuple = py_shape_tuple(order, shape);
    if (!tuple) return NULL;
    PyObject *a = PyObject_CallFunctionObjArgs(st->empty, tuple, st->dtype[type], NULL);
    Py_DECREF(tuple);
    if (a && PyObject_GetBuffer(a, b, PyBUF_CONTIG)) Py_CLEAR(a);
    return a;
}

PyObject *py_array_copy(module_state *st, const void *data, int order, const int64_t *shape,
                        stc_type type)
{
    Py_buffer b;
    PyObject *a = py_array_empty(st, order, shape, type, &b);
    if (!a) return NULL;
    if (b.len) memcpy(b.buf, data, (size_t)b.len);
    PyBuffer_Release(&b);
    return a;
}

PyObject *py_array_view(module_state *st, PyObject *owner, void *data, int64_t n,
                        stc_type type, bool fixed)
{
    if (!n) return py_array_copy(st, "", 1, &n, type);
    view_object *view = py_object_new(st->view);
    if (!view) return NULL;
    view->owner = Py_NewRef(owner);
    view->data = data;
    view->fixed = fixed;
    view->size = (Py_ssize_t)n * (Py_ssize_t)stc_type_size(type);
    PyObject *a = PyObject_CallFunctionObjArgs(st->frombuffer, (PyObject *)view,
                                               st->dtype[type], NULL);
    Py_DECREF(view);
    return a;
}

/* ---- numbers and shapes -------------------------------------------------- */

stc_value py_value_load(stc_type type, const void *from)
{
    stc_value v = {0};
    float part[2];
    switch (type) {
#define INTEGER(TAG, C, FIELD)                                                             \
    case TAG: {                                                                            \
        C x;                                                                               \
        memcpy(&x, from, sizeof x);                                                        \
        v.FIELD = x;                                                                       \
        return v;                                                                          \
    }
        INTEGER(STC_BOOL, uint8_t, i)
        INTEGER(STC_I8, int8_t, i)
        INTEGER(STC_I16, int16_t, i)
        INTEGER(STC_I32, int32_t, i)
        INTEGER(STC_I64, int64_t, i)
        INTEGER(STC_U8, uint8_t, u)
        INTEGER(STC_U16, uint16_t, u)
        INTEGER(STC_U32, uint32_t, u)
        INTEGER(STC_U64, uint64_t, u)
        INTEGER(STC_F32, float, f)
        INTEGER(STC_F64, double, f)
#undef INTEGER
    case STC_C64:
        memcpy(part, from, sizeof part);
        v.c[0] = (double)part[0];
        v.c[1] = (double)part[1];
        return v;
    case STC_C128:
        memcpy(v.c, from, sizeof v.c);
        return v;
    }
    return v;
}

bool py_value_is_zero(stc_type type, stc_value v)
{
    if (type >= STC_C64) return v.c[0] == 0 && v.c[1] == 0;
    return type >= STC_F32 ? v.f == 0 : v.u == 0;
}

/* Python's own numbers for its own types, NumPy's for the others. */
PyObject *py_value_to_python(module_state *st, stc_type type, stc_value v)
{
    PyObject *number = type == STC_BOOL  ? PyBool_FromLong(v.i != 0)
                       : type <= STC_I64 ? PyLong_FromLongLong(v.i)
                       : type <= STC_U64 ? PyLong_FromUnsignedLongLong(v.u)
                       : type <= STC_F64 ? PyFloat_FromDouble(v.f)
                                         : PyComplex_FromDoubles(v.c[0], v.c[1]);
    if (!number || type == STC_BOOL || type == STC_I64 || type == STC_F64 ||
        type == STC_C128)
        return number;
    PyObject *narrow = PyObject_CallMethod(st->dtype[type], "type", "O", number);
    Py_DECREF(number);
    return narrow;
}

bool py_value_from_python(PyObject *from, stc_type type, stc_value *to)
{
    *to = (stc_value){0};
    if (type >= STC_C64) {
        to->c[0] = PyComplex_RealAsDouble(from);
        to->c[1] = PyComplex_ImagAsDouble(from);
    } else if (type >= STC_F32) {
        to->f = PyFloat_AsDouble(from);
    } else {
        PyObject *whole = PyNumber_Long(from);
        if (!whole) return false;
        if (type == STC_BOOL)
            to->i = PyObject_IsTrue(whole);
        else if (type <= STC_I64)
            to->i = PyLong_AsLongLong(whole);
        else
            to->u = PyLong_AsUnsignedLongLong(whole);
        Py_DECREF(whole);
    }
    return !PyErr_Occurred();
}

PyObject *py_shape_tuple(int order, const int64_t *shape)
{
    PyObject *tuple = PyTuple_New(order);
    for (int k = 0; tuple && k < order; k++) {
        PyObject *n = PyLong_FromLongLong(shape[k]);
        if (!n || PyTuple_SetItem(tuple, k, n)) Py_CLEAR(tuple);
    }
    return tuple;
}

int py_shape_from(PyObject *tuple, int64_t *shape)
{
    const Py_ssize_t order = PySequence_Size(tuple);
    if (order < 0) return -1;
    if (order > STC_MAX_ORDER) {
        PyErr_Format(PyExc_ValueError, "order %zd; expected at most %d", order,
                     STC_MAX_ORDER);
        return -1;
    }
    for (Py_ssize_t k = 0; k < order; k++) {
        PyObject *n = PySequence_GetItem(tuple, k);
        if (!n) return -1;
        shape[k] = PyLong_AsLongLong(n);
        Py_DECREF(n);
        if (shape[k] == -1 && PyErr_Occurred()) return -1;
    }
    return (int)order;
}

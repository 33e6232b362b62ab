/* tensor.c: tensors that Python owns: made from operands, arrays or entries, looked
 * at, converted. The layer's stcvm.Tensor has one of these as its _handle.
 */
#include "stcvm_py.h"
#include <stdlib.h>
#include <string.h>

static bool note_arrays(tensor_object *self)
{
    const int levels = stc_tensor_levels(self->t);
    const void *values;
    self->array = malloc((size_t)(3 * levels + 1) * sizeof *self->array);
    self->format = strdup(stc_tensor_format(self->t));
    if (!self->array || !self->format) return false;
    for (int k = 0; k < 3 * levels; k++) {
        tensor_array *a = &self->array[self->arrays];
        *a = (tensor_array){.level = k / 3, .role = k % 3};
        if (stc_tensor_array(self->t, a->level, (stc_array_role)a->role, &a->a) == STC_OK)
            self->arrays++;
    }
    if (stc_tensor_values(self->t, &values, &self->stored)) return false;
    self->values = (void *)(uintptr_t)values;
    return true;
}

PyObject *py_tensor_wrap(machine_object *m, stc_tensor *t)
{
    tensor_object *self = py_object_new(m->st->tensor);
    if (!self) {
        py_machine_bury(m, NULL, t);
        return NULL;
    }
    self->owner = (machine_object *)Py_NewRef((PyObject *)m);
    self->t = t;
    if (!note_arrays(self)) {
        PyErr_NoMemory();
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

static void tensor_dealloc(PyObject *object)
{
    tensor_object *self = (tensor_object *)object;
    if (self->owner) py_machine_bury(self->owner, NULL, self->t);
    free(self->array);
    free(self->format);
    Py_XDECREF((PyObject *)self->owner);
    py_object_free(object);
}

/* ---- making ------------------------------------------------------------- */

/* (spec, object, format or None): a copy; NotImplemented as programs have it. */
PyObject *py_tensor_from_operand(machine_object *m, PyObject *args)
{
    PyObject *spec, *from, *made = NULL;
    const char *format;
    operand o;
    stc_tensor *use, *copy = NULL;
    if (!PyArg_ParseTuple(args, "OOz", &spec, &from, &format)) return NULL;
    if (!py_operand_init(&o, spec) || !py_machine_begin(m)) {
        py_operand_free(m, &o);
        return NULL;
    }
    const int taken = py_operand_take(m, &o, from, &use);
    if (taken == 0) made = Py_NewRef(Py_NotImplemented);
    if (taken == 1) {
        stc_status st = stc_tensor_check(use);
        if (!st) st = stc_tensor_convert(use, format, -1, &copy);
        made = st ? py_machine_fail(m, st, o.text) : py_tensor_wrap(m, copy);
    }
    py_operand_free(m, &o);
    py_machine_end(m);
    return made;
}

static stc_tensor *new_tensor(machine_object *m, const char *format, int type,
                              PyObject *shape, PyObject *fill)
{
    int64_t n[STC_MAX_ORDER];
    stc_value v = {0};
    stc_tensor *t = NULL;
    const int order = py_shape_from(shape, n);
    if (order < 0 || (fill != Py_None && !py_value_from_python(fill, (stc_type)type, &v)))
        return NULL;
    const stc_status st = stc_tensor_new(m->m, format, (stc_type)type, order, n, &v, &t);
    if (st) py_machine_fail(m, st, NULL);
    return t;
}

/* Lends one (level, role, array), or the values (level -1). The buffer is held. */
static bool lend_one(machine_object *m, stc_tensor *t, int level, int role, PyObject *array,
                     Py_buffer *b)
{
    if (PyObject_GetBuffer(array, b, PyBUF_CONTIG_RO | PyBUF_FORMAT)) return false;
    void *data = b->len ? b->buf : (void *)"\0\0\0\0\0\0\0";
    stc_status st;
    if (level < 0 && py_array_type(b) != (int)stc_tensor_type(t)) {
        PyErr_SetString(PyExc_TypeError, "the values aren't of the tensor's type");
        return false;
    }
    if (level < 0)
        st = stc_tensor_lend_values(t, data, b->len / b->itemsize);
    else
        st = stc_tensor_lend(
            t, level, (stc_array_role)role,
            (stc_array){data, b->len / b->itemsize, (int32_t)b->itemsize, 0});
    if (st) py_machine_fail(m, st, NULL);
    return st == STC_OK;
}

static bool lend_list(machine_object *m, stc_tensor *t, PyObject *values, PyObject *list,
                      Py_buffer *b)
{
    const Py_ssize_t n = PyList_Size(list);
    if (n > 3 * STC_MAX_ORDER) PyErr_SetString(PyExc_ValueError, "too many arrays");
    if (n < 0 || n > 3 * STC_MAX_ORDER || !lend_one(m, t, -1, 0, values, &b[0]))
        return false;
    for (Py_ssize_t k = 0; k < n; k++) {
        int level, role;
        PyObject *array;
        if (!PyArg_ParseTuple(PyList_GetItem(list, k), "iiO", &level, &role, &array) ||
            !lend_one(m, t, level, role, array, &b[k + 1]))
            return false;
    }
    return true;
}

/* (format, type, shape, fill, values, [(level, role, array)]): checked, and copied. */
PyObject *py_tensor_from_arrays(machine_object *m, PyObject *args)
{
    const char *format;
    int type;
    PyObject *shape, *fill, *values, *list, *made = NULL;
    Py_buffer b[3 * STC_MAX_ORDER + 1] = {{0}};
    if (!PyArg_ParseTuple(args, "siOOOO!", &format, &type, &shape, &fill, &values,
                          &PyList_Type, &list) ||
        !py_machine_begin(m))
        return NULL;
    stc_tensor *t = new_tensor(m, format, type, shape, fill), *copy = NULL;
    if (t && lend_list(m, t, values, list, b)) {
        stc_status st = stc_tensor_check(t);
        if (!st) st = stc_tensor_convert(t, NULL, -1, &copy);
        made = st ? py_machine_fail(m, st, NULL) : py_tensor_wrap(m, copy);
    }
    stc_tensor_free(t);
    for (size_t k = 0; k < sizeof b / sizeof *b; k++)
        PyBuffer_Release(&b[k]);
    py_machine_end(m);
    return made;
}

/* (format, type, shape, fill, coords int64 [order, n], values): packed. */
PyObject *py_tensor_from_coords(machine_object *m, PyObject *args)
{
    const char *format;
    int type;
    PyObject *shape, *fill, *made = NULL;
    Py_buffer coords, values;
    int64_t n[STC_MAX_ORDER];
    stc_value v = {0};
    stc_tensor *t = NULL;
    if (!PyArg_ParseTuple(args, "siOOy*y*", &format, &type, &shape, &fill, &coords,
                          &values))
        return NULL;
    const int order = py_shape_from(shape, n);
    bool good = order >= 0 && type >= 0 && type < TYPES &&
                (fill == Py_None || py_value_from_python(fill, (stc_type)type, &v));
    const int64_t count = good ? values.len / (Py_ssize_t)stc_type_size((stc_type)type) : 0;
    if (good && coords.len != 8 * order * count) {
        PyErr_SetString(PyExc_ValueError, "coordinates and values differ in number");
        good = false;
    }
    if (good && py_machine_begin(m)) {
        const stc_status st = stc_tensor_from_coords(m->m, format, (stc_type)type, order, n,
                                                     &v, count, coords.buf, values.buf, &t);
        made = st ? py_machine_fail(m, st, NULL) : py_tensor_wrap(m, t);
        py_machine_end(m);
    }
    PyBuffer_Release(&coords);
    PyBuffer_Release(&values);
    return made;
}

/* ---- looking ------------------------------------------------------------ */

static PyObject *get_shape(PyObject *object, void *none)
{
    (void)none;
    const stc_tensor *t = ((tensor_object *)object)->t;
    return py_shape_tuple(stc_tensor_order(t), stc_tensor_shape(t));
}

static PyObject *get_type(PyObject *object, void *none)
{
    (void)none;
    return PyLong_FromLong(stc_tensor_type(((tensor_object *)object)->t));
}

static PyObject *get_format(PyObject *object, void *none)
{
    (void)none;
    return PyUnicode_FromString(((tensor_object *)object)->format);
}

static PyObject *get_fill(PyObject *object, void *none)
{
    (void)none;
    tensor_object *self = (tensor_object *)object;
    return py_value_to_python(self->owner->st, stc_tensor_type(self->t),
                              stc_tensor_fill(self->t));
}

static PyObject *get_zero(PyObject *object, void *none)
{
    (void)none;
    const stc_tensor *t = ((tensor_object *)object)->t;
    return PyBool_FromLong(py_value_is_zero(stc_tensor_type(t), stc_tensor_fill(t)));
}

static PyObject *get_stored(PyObject *object, void *none)
{
    (void)none;
    return PyLong_FromLongLong(stc_tensor_stored(((tensor_object *)object)->t));
}

static PyObject *get_bytes(PyObject *object, void *none)
{
    (void)none;
    return PyLong_FromUnsignedLongLong(stc_tensor_bytes(((tensor_object *)object)->t));
}

static PyObject *index_copy(module_state *st, const stc_array *a)
{
    Py_buffer b;
    const int64_t n = a->length;
    PyObject *array = py_array_empty(st, 1, &n, a->width == 4 ? STC_I32 : STC_I64, &b);
    if (!array) return NULL;
    const int64_t stride = a->stride ? a->stride : a->width;
    for (int64_t k = 0; k < n; k++)
        memcpy((char *)b.buf + k * a->width, (const char *)a->data + k * stride,
               (size_t)a->width);
    PyBuffer_Release(&b);
    return array;
}

/* (share): (values, [(level, role, array)]), copies; or where `share` is true and the
 * arrays lie densely, the tensor's own memory, for who has the tensor to himself. */
static PyObject *tensor_arrays(PyObject *object, PyObject *share)
{
    tensor_object *self = (tensor_object *)object;
    module_state *st = self->owner->st;
    const stc_type type = stc_tensor_type(self->t);
    const bool shared = PyObject_IsTrue(share) == 1, fixed = stc_tensor_shares(self->t);
    PyObject *list = PyList_New(0);
    for (int k = 0; list && k < self->arrays; k++) {
        const stc_array *a = &self->array[k].a;
        const bool dense = !a->stride || a->stride == a->width;
        PyObject *array = shared && dense ? py_array_view(st, object, a->data, a->length,
                                                          a->width == 4 ? STC_I32 : STC_I64,
                                                          fixed)
                                          : index_copy(st, a);
        PyObject *row =
            array ? Py_BuildValue("(iiN)", self->array[k].level, self->array[k].role, array)
                  : NULL;
        if (!row || PyList_Append(list, row)) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    if (!list) return NULL;
    PyObject *values = shared ? py_array_view(st, object, self->values, self->stored, type, false)
                              : py_array_copy(st, self->values, 1, &self->stored, type);
    if (!values) {
        Py_DECREF(list);
        return NULL;
    }
    return Py_BuildValue("(NN)", values, list);
}

static PyObject *tensor_get(PyObject *object, PyObject *coords)
{
    tensor_object *self = (tensor_object *)object;
    int64_t at[STC_MAX_ORDER];
    stc_value v;
    const int order = py_shape_from(coords, at);
    if (order < 0) return NULL;
    if (order != stc_tensor_order(self->t)) {
        PyErr_SetString(PyExc_IndexError, "wrong number of coordinates");
        return NULL;
    }
    if (!py_machine_begin(self->owner)) return NULL;
    const stc_status st = stc_tensor_get(self->t, at, &v);
    PyObject *fault = st ? py_machine_fail(self->owner, st, NULL) : NULL;
    py_machine_end(self->owner);
    return st ? fault : py_value_to_python(self->owner->st, stc_tensor_type(self->t), v);
}

static PyObject *tensor_dense(PyObject *object, PyObject *none)
{
    (void)none;
    tensor_object *self = (tensor_object *)object;
    machine_object *m = self->owner;
    Py_buffer b;
    PyObject *a = py_array_empty(m->st, stc_tensor_order(self->t),
                                 stc_tensor_shape(self->t), stc_tensor_type(self->t), &b);
    if (!a) return NULL;
    stc_status st = STC_OK;
    const bool mine = py_machine_begin(m);
    if (mine) {
        Py_BEGIN_ALLOW_THREADS st = stc_tensor_to_dense(self->t, b.buf);
        Py_END_ALLOW_THREADS if (st) py_machine_fail(m, st, NULL);
        py_machine_end(m);
    }
    PyBuffer_Release(&b);
    if (!mine || st) Py_CLEAR(a);
    return a;
}

static PyObject *tensor_convert(PyObject *object, PyObject *args)
{
    tensor_object *self = (tensor_object *)object;
    machine_object *m = self->owner;
    const char *format;
    int type;
    stc_tensor *copy = NULL;
    if (!PyArg_ParseTuple(args, "zi", &format, &type) || !py_machine_begin(m)) return NULL;
    stc_status st;
    Py_BEGIN_ALLOW_THREADS st = stc_tensor_convert(self->t, format, type, &copy);
    Py_END_ALLOW_THREADS PyObject *made =
        st ? py_machine_fail(m, st, NULL) : py_tensor_wrap(m, copy);
    py_machine_end(m);
    return made;
}

typedef struct entry_writer {
    int order;
    int64_t n, at, *coords;
} entry_writer;

static int count_entry(void *context, const int64_t *coords, stc_value value)
{
    (void)coords, (void)value;
    ((entry_writer *)context)->n++;
    return 0;
}

static int write_entry(void *context, const int64_t *coords, stc_value value)
{
    (void)value;
    entry_writer *w = context;
    for (int k = 0; k < w->order; k++)
        w->coords[k * w->n + w->at] = coords[k];
    w->at++;
    return 0;
}

/* int64 [order, n]: where its entries are, in storage order. */
static PyObject *tensor_coords(PyObject *object, PyObject *none)
{
    (void)none;
    tensor_object *self = (tensor_object *)object;
    machine_object *m = self->owner;
    entry_writer w = {.order = stc_tensor_order(self->t)};
    Py_buffer b;
    PyObject *a = NULL;
    if (!py_machine_begin(m)) return NULL;
    stc_status st = stc_tensor_visit(self->t, count_entry, &w);
    const int64_t shape[2] = {w.order, w.n};
    if (!st && (a = py_array_empty(m->st, 2, shape, STC_I64, &b))) {
        w.coords = b.buf;
        st = stc_tensor_visit(self->t, write_entry, &w);
        PyBuffer_Release(&b);
    }
    if (st) py_machine_fail(m, st, NULL);
    if (st) Py_CLEAR(a);
    py_machine_end(m);
    return a;
}

static PyObject *tensor_text(PyObject *object, PyObject *limit)
{
    tensor_object *self = (tensor_object *)object;
    const long long n = PyLong_AsLongLong(limit);
    if (n == -1 && PyErr_Occurred()) return NULL;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) return PyErr_NoMemory();
    PyObject *made = NULL;
    if (py_machine_begin(self->owner)) {
        const stc_status st = stc_tensor_print(self->t, out, n);
        fclose(out);
        made = st ? py_machine_fail(self->owner, st, NULL)
                  : PyUnicode_DecodeUTF8(text, (Py_ssize_t)size, "replace");
        py_machine_end(self->owner);
    } else {
        fclose(out);
    }
    free(text);
    return made;
}

static PyMethodDef methods[] = {
    {"arrays", tensor_arrays, METH_O, "(share) -> (values, [(level, role, array)])"},
    {"get", tensor_get, METH_O, "(coordinates) -> the element"},
    {"dense", tensor_dense, METH_NOARGS, "() -> ndarray"},
    {"convert", tensor_convert, METH_VARARGS, "(format, type) -> Tensor"},
    {"coords", tensor_coords, METH_NOARGS, "() -> int64 [order, n]"},
    {"text", tensor_text, METH_O, "(limit) -> as print shows it"},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef getters[] = {
    {"shape", get_shape, NULL, "extents", NULL},
    {"type", get_type, NULL, "element type, by number", NULL},
    {"format", get_format, NULL, "format", NULL},
    {"fill", get_fill, NULL, "what isn't stored", NULL},
    {"fill_is_zero", get_zero, NULL, "whether it is 0", NULL},
    {"stored", get_stored, NULL, "stored entries", NULL},
    {"nbytes", get_bytes, NULL, "bytes of all arrays", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, tensor_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, getters},
    {Py_tp_doc, "A tensor of stcvm's own."},
    {0, NULL},
};

PyType_Spec py_tensor_spec = {"stcvm._stcvm.Tensor", sizeof(tensor_object), 0,
                              Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                              slots};

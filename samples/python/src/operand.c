/* operand.c: Python's objects as operands of a program, without a copy.
 *
 * An operand was described once (its kind, type, format); here each call's object is
 * met again: its arrays are asked for anew through the buffer protocol, held while
 * the call lasts, and lent. So nothing is remembered of arrays that were replaced,
 * resized or freed in the meantime, and what a matrix's indices hold is checked by
 * stcvm in each call (lending says that anything may differ).
 */
#include "stcvm_py.h"
#include <stdlib.h>
#include <string.h>

static char *copy_text(PyObject *text)
{
    const char *from = PyUnicode_AsUTF8AndSize(text, NULL);
    char *to = from ? strdup(from) : NULL;
    if (from && !to) PyErr_NoMemory();
    return to;
}

/* extra: the axes of DENSE, the block of BSR, else None. */
static bool init_extra(operand *o, PyObject *extra)
{
    int64_t numbers[STC_MAX_ORDER];
    if (extra == Py_None) return true;
    const int n = py_shape_from(extra, numbers);
    if (n < 0) return false;
    for (int k = 0; k < n && o->kind == DENSE; k++)
        o->axis[k] = (int)numbers[k];
    if (o->kind == BSR && n == 2) memcpy(o->block, numbers, sizeof o->block);
    return true;
}

bool py_operand_init(operand *o, PyObject *spec)
{
    PyObject *name, *format, *fill, *cls, *extra;
    int kind, type;
    *o = (operand){0};
    if (!PyArg_ParseTuple(spec, "UiiiUOOO", &name, &kind, &type, &o->order, &format, &fill,
                          &cls, &extra))
        return false;
    if (kind < DENSE || kind > TENSOR || type < 0 || type >= TYPES || o->order < 0 ||
        o->order > STC_MAX_ORDER) {
        PyErr_SetString(PyExc_ValueError, "an operand's description is out of range");
        return false;
    }
    o->kind = (operand_kind)kind;
    o->type = (stc_type)type;
    o->name = Py_NewRef(name);
    PyUnicode_InternInPlace(&o->name);
    o->cls = Py_NewRef(cls);
    o->text = copy_text(name);
    o->format = copy_text(format);
    if (!o->text || !o->format) return false;
    return init_extra(o, extra) &&
           (fill == Py_None || py_value_from_python(fill, o->type, &o->fill));
}

void py_operand_release(operand *o)
{
    for (int k = 0; k < o->buffers; k++)
        PyBuffer_Release(&o->buffer[k]);
    o->buffers = 0;
}

void py_operand_free(machine_object *m, operand *o)
{
    py_operand_release(o);
    py_machine_bury(m, NULL, o->own);
    Py_XDECREF(o->held);
    Py_XDECREF(o->name);
    Py_XDECREF(o->cls);
    free(o->text);
    free(o->format);
    *o = (operand){0};
}

/* Makes o->own with this shape, or keeps it. */
static bool own_tensor(machine_object *m, operand *o, const int64_t *shape)
{
    const size_t size = (size_t)o->order * sizeof *shape;
    if (o->own && memcmp(o->shape, shape, size) == 0) return true;
    stc_tensor *t;
    const stc_status st =
        stc_tensor_new(m->m, o->format, o->type, o->order, shape, &o->fill, &t);
    if (st) {
        py_machine_fail(m, st, o->text);
        return false;
    }
    py_machine_bury(m, NULL, o->own); /* when this call is over: it may still be bound */
    o->own = t;
    memcpy(o->shape, shape, size);
    return true;
}

static Py_buffer *buffer_of(operand *o, PyObject *array)
{
    Py_buffer *b = &o->buffer[o->buffers];
    if (PyObject_GetBuffer(array, b, PyBUF_STRIDED_RO | PyBUF_FORMAT)) {
        PyErr_Clear();
        return NULL;
    }
    o->buffers++;
    return b;
}

static Py_buffer *buffer_at(operand *o, PyObject *from, PyObject *name)
{
    PyObject *array = PyObject_GetAttr(from, name);
    if (!array) {
        PyErr_Clear();
        return NULL;
    }
    Py_buffer *b = buffer_of(o, array);
    Py_DECREF(array);
    return b;
}

static int lent(machine_object *m, operand *o, stc_status st)
{
    if (!st) return 1;
    py_machine_fail(m, st, o->text);
    return -1;
}

static char nothing[16]; /* never read: what arrays of length 0 point to */

static stc_status lend_values(operand *o, const Py_buffer *b)
{
    const int64_t n = b->len / b->itemsize;
    return stc_tensor_lend_values(o->own, n ? b->buf : nothing, n);
}

static stc_status lend_index(operand *o, int level, stc_array_role role, const Py_buffer *b)
{
    const int32_t width = (int32_t)b->itemsize;
    const int32_t stride = b->shape[0] > 1 ? (int32_t)b->strides[0] : width;
    return stc_tensor_lend(o->own, level, role,
                           (stc_array){b->buf, b->shape[0], width, stride});
}

static bool aligned(const Py_buffer *b, stc_type type)
{
    const size_t size = stc_type_size(type), by = size > 8 ? 8 : size;
    return (uintptr_t)b->buf % by == 0;
}

/* Whether the values lie densely in the order of the axes, the slowest first. */
static bool lies_as(const Py_buffer *b, const int *axis)
{
    Py_ssize_t step = b->itemsize;
    for (int k = b->ndim - 1; k >= 0; k--) {
        const int a = axis ? axis[k] : k;
        if (b->shape[a] > 1 && b->strides[a] != step) return false;
        step *= b->shape[a];
    }
    return true;
}

static int take_dense(machine_object *m, operand *o, PyObject *from)
{
    const Py_buffer *b = buffer_of(o, from);
    if (!b || b->ndim != o->order || py_array_type(b) != (int)o->type) return 0;
    int64_t shape[STC_MAX_ORDER];
    for (int k = 0; k < o->order; k++)
        shape[k] = b->shape[k];
    if (b->len && (!lies_as(b, o->axis) || !aligned(b, o->type))) return 0;
    if (!own_tensor(m, o, shape)) return -1;
    return lent(m, o, lend_values(o, b));
}

static bool shape_of(module_state *st, PyObject *from, int64_t *shape)
{
    PyObject *tuple = PyObject_GetAttr(from, st->name_shape);
    const int order = tuple ? py_shape_from(tuple, shape) : -1;
    Py_XDECREF(tuple);
    if (order < 0) PyErr_Clear();
    return order == 2;
}

/* The values of a matrix, in `ndim` dimensions, one after the other. */
static const Py_buffer *values_of(module_state *st, operand *o, PyObject *from, int ndim)
{
    const Py_buffer *b = buffer_at(o, from, st->name_data);
    if (!b || b->ndim != ndim || py_array_type(b) != (int)o->type) return NULL;
    return !b->len || (lies_as(b, NULL) && aligned(b, o->type)) ? b : NULL;
}

static int take_compressed(machine_object *m, operand *o, PyObject *from)
{
    module_state *st = m->st;
    int64_t shape[STC_MAX_ORDER];
    if (!shape_of(st, from, shape)) return 0;
    const Py_buffer *values = values_of(st, o, from, o->kind == BSR ? 3 : 1);
    const Py_buffer *bounds = values ? buffer_at(o, from, st->name_indptr) : NULL;
    const Py_buffer *index = bounds ? buffer_at(o, from, st->name_indices) : NULL;
    if (!index || !py_array_index_width(bounds) || !py_array_index_width(index)) return 0;
    if (o->kind == BSR &&
        (values->shape[1] != o->block[0] || values->shape[2] != o->block[1]))
        return 0;
    if (!own_tensor(m, o, shape)) return -1;
    stc_status s = lend_index(o, 1, STC_POS, bounds);
    if (!s) s = lend_index(o, 1, STC_CRD, index);
    return lent(m, o, s ? s : lend_values(o, values));
}

static int take_coo(machine_object *m, operand *o, PyObject *from)
{
    module_state *st = m->st;
    int64_t shape[STC_MAX_ORDER];
    if (!shape_of(st, from, shape)) return 0;
    const Py_buffer *values = values_of(st, o, from, 1);
    const Py_buffer *row = values ? buffer_at(o, from, st->name_row) : NULL;
    const Py_buffer *col = row ? buffer_at(o, from, st->name_col) : NULL;
    if (!col || !py_array_index_width(row) || !py_array_index_width(col)) return 0;
    if (!own_tensor(m, o, shape)) return -1;
    o->bounds[0] = 0;
    o->bounds[1] = row->shape[0];
    stc_status s = stc_tensor_lend(o->own, 0, STC_POS, (stc_array){o->bounds, 2, 8, 0});
    if (!s) s = lend_index(o, 0, STC_CRD, row);
    if (!s) s = lend_index(o, 1, STC_CRD, col);
    return lent(m, o, s ? s : lend_values(o, values));
}

static int take_dia(machine_object *m, operand *o, PyObject *from)
{
    module_state *st = m->st;
    int64_t shape[STC_MAX_ORDER];
    if (!shape_of(st, from, shape)) return 0;
    const Py_buffer *values = values_of(st, o, from, 2);
    const Py_buffer *offsets = values ? buffer_at(o, from, st->name_offsets) : NULL;
    if (!offsets || !py_array_index_width(offsets) || values->shape[1] != shape[1])
        return 0;
    if (!own_tensor(m, o, shape)) return -1;
    o->bounds[0] = 0;
    o->bounds[1] = offsets->shape[0];
    stc_status s = stc_tensor_lend(o->own, 0, STC_POS, (stc_array){o->bounds, 2, 8, 0});
    if (!s) s = lend_index(o, 0, STC_CRD, offsets);
    return lent(m, o, s ? s : lend_values(o, values));
}

static int take_number(machine_object *m, operand *o, PyObject *from)
{
    o->number.f[0] = o->number.f[1] = 0;
    if (o->type == STC_F64) {
        o->number.f[0] = PyFloat_AsDouble(from);
    } else if (o->type == STC_C128) {
        o->number.f[0] = PyComplex_RealAsDouble(from);
        o->number.f[1] = PyComplex_ImagAsDouble(from);
    } else if (o->type == STC_BOOL) {
        *(char *)&o->number = from == Py_True;
    } else {
        o->number.i = PyLong_AsLongLong(from);
    }
    if (PyErr_Occurred()) return -1;
    if (!own_tensor(m, o, NULL)) return -1;
    return lent(m, o, stc_tensor_lend_values(o->own, &o->number, 1));
}

/* A tensor of another machine: its arrays are lent, as a host's would be. */
static stc_status lend_all(operand *o, const tensor_object *t)
{
    for (int k = 0; k < t->arrays; k++) {
        stc_array a = t->array[k].a;
        if (!a.length) a.data = nothing;
        const stc_status st =
            stc_tensor_lend(o->own, t->array[k].level, (stc_array_role)t->array[k].role, a);
        if (st) return st;
    }
    return stc_tensor_lend_values(o->own, t->stored ? t->values : nothing, t->stored);
}

static int take_tensor(machine_object *m, operand *o, PyObject *from, stc_tensor **use)
{
    module_state *st = m->st;
    PyObject *handle = PyObject_GetAttr(from, st->name_handle);
    if (!handle) return -1;
    tensor_object *t = (tensor_object *)handle;
    int taken = 0;
    if (Py_TYPE(handle) == st->tensor && stc_tensor_type(t->t) == o->type &&
        stc_tensor_order(t->t) == o->order) {
        const stc_value fill = stc_tensor_fill(t->t);
        taken = memcmp(&fill, &o->fill, stc_type_size(o->type) > 8 ? 16 : 8) == 0 &&
                strcmp(t->format, o->format) == 0;
    }
    if (taken && t->owner == m) {
        *use = t->t;
    } else if (taken) {
        taken = own_tensor(m, o, stc_tensor_shape(t->t)) ? lent(m, o, lend_all(o, t)) : -1;
    }
    if (taken == 1) {
        PyObject *before = o->held; /* bound until the call binds the new one */
        o->held = handle;
        Py_XDECREF(before);
    } else {
        Py_DECREF(handle);
    }
    return taken;
}

int py_operand_take(machine_object *m, operand *o, PyObject *from, stc_tensor **use)
{
    if ((PyObject *)Py_TYPE(from) != o->cls) return 0;
    int taken;
    *use = NULL;
    switch (o->kind) {
    case DENSE:
        taken = take_dense(m, o, from);
        break;
    case CSR:
    case CSC:
    case BSR:
        taken = take_compressed(m, o, from);
        break;
    case COO:
        taken = take_coo(m, o, from);
        break;
    case DIA:
        taken = take_dia(m, o, from);
        break;
    case NUMBER:
        taken = take_number(m, o, from);
        break;
    default:
        taken = take_tensor(m, o, from, use);
        break;
    }
    if (!*use) *use = o->own;
    return taken;
}

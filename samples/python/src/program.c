/* program.c: a compiled text, called with Python's objects.
 *
 * Program(*operands, **operands) gives NotImplemented, without having done anything,
 * where an object isn't of the kind that the program was compiled for, or where its
 * machine is busy: the Python layer then finds another program.
 */
#include "stcvm_py.h"
#include <stdlib.h>
#include <string.h>

typedef struct program_object {
    PyObject_HEAD machine_object *owner;
    stc_program *p;
    operand *o;
    int count;       /* of operands                                           */
    PyObject *specs; /* of the operands                                       */
    PyObject *names; /* of results                                            */
    PyObject *like;  /* handed to the layer with what results are made of        */
} program_object;

static void program_dealloc(PyObject *object)
{
    program_object *self = (program_object *)object;
    if (self->owner)
        py_machine_bury(self->owner, self->p, NULL); /* before what it has bound */
    for (int k = 0; k < self->count; k++)
        py_operand_free(self->owner, &self->o[k]);
    free(self->o);
    Py_XDECREF(self->specs);
    Py_XDECREF(self->names);
    Py_XDECREF(self->like);
    Py_XDECREF((PyObject *)self->owner);
    py_object_free(object);
}

/* The object for each operand, borrowed. False: they aren't these. */
static bool match(const program_object *self, PyObject *args, PyObject *kwargs,
                  PyObject **object)
{
    const Py_ssize_t first = PyTuple_Size(args);
    const Py_ssize_t named = kwargs ? PyDict_Size(kwargs) : 0;
    if (first + named != self->count) return false;
    for (int k = 0; k < self->count; k++) {
        object[k] = k < first ? PyTuple_GetItem(args, k)
                              : PyDict_GetItemWithError(kwargs, self->o[k].name);
        if (!object[k]) return false;
    }
    return true;
}

static int take_all(program_object *self, PyObject **object, stc_tensor **use)
{
    for (int k = 0; k < self->count; k++) {
        const int taken = py_operand_take(self->owner, &self->o[k], object[k], &use[k]);
        if (taken != 1) return taken;
    }
    return 1;
}

static stc_status bind_and_run(program_object *self, stc_tensor **use)
{
    for (int k = 0; k < self->count; k++) {
        operand *o = &self->o[k];
        if (o->bound == use[k]) continue;
        const stc_status st = stc_bind(self->p, o->text, use[k]);
        if (st) return st;
        o->bound = use[k];
    }
    return stc_run(self->p);
}

/* Nothing stays bound that could go away before the next call. */
static void unbind(program_object *self)
{
    for (int k = 0; k < self->count; k++) {
        operand *o = &self->o[k];
        if (o->bound && o->bound != o->own) {
            stc_bind(self->p, o->text, NULL);
            o->bound = NULL;
        }
        Py_CLEAR(o->held);
    }
}

/* Which operand's arrays break its format, if that is what went wrong. The first
 * failure's text is kept by the exception. */
static PyObject *explain(program_object *self, stc_status st)
{
    PyObject *type, *value, *trace;
    py_machine_fail(self->owner, st, NULL);
    if (st != STC_ERR_DATA) return NULL;
    PyErr_Fetch(&type, &value, &trace);
    for (int k = 0; k < self->count; k++) {
        operand *o = &self->o[k];
        if (!o->own || stc_tensor_check(o->own) != STC_ERR_DATA) continue;
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(trace);
        return py_machine_fail(self->owner, STC_ERR_DATA, o->text);
    }
    PyErr_Restore(type, value, trace);
    return NULL;
}

static PyObject *results(program_object *self)
{
    machine_object *m = self->owner;
    const Py_ssize_t n = PyTuple_Size(self->names);
    PyObject *all = NULL;
    for (Py_ssize_t k = 0; k < n; k++) {
        PyObject *name = PyTuple_GetItem(self->names, k);
        PyObject *made = py_result_make(m, self->p, PyUnicode_AsUTF8AndSize(name, NULL));
        if (n == 1) return made;
        if (!all) all = PyDict_New();
        if (!made || !all || PyDict_SetItem(all, name, made)) Py_CLEAR(all);
        Py_XDECREF(made);
        if (!all) return NULL;
    }
    return all;
}

static PyObject *run(program_object *self, PyObject **object, stc_tensor **use)
{
    const int taken = take_all(self, object, use);
    if (taken < 0) return NULL;
    if (!taken) return Py_NewRef(Py_NotImplemented);
    stc_status st;
    Py_BEGIN_ALLOW_THREADS st = bind_and_run(self, use);
    Py_END_ALLOW_THREADS return py_machine_good(st) ? results(self) : explain(self, st);
}

/* ---- into an array of the caller's --------------------------------------------------- */

static bool overlaps(const program_object *self, const Py_buffer *b)
{
    const char *begin = b->buf, *end = begin + b->len;
    for (int k = 0; k < self->count; k++)
        for (int j = 0; j < self->o[k].buffers; j++) {
            const Py_buffer *x = &self->o[k].buffer[j];
            const char *low = x->buf, *high = low + x->itemsize;
            for (int d = 0; d < x->ndim; d++)
                if (x->shape[d] > 0) {
                    const Py_ssize_t far = (x->shape[d] - 1) * x->strides[d];
                    *(far < 0 ? &low : &high) += far;
                }
            if (low < end && begin < high) return true;
        }
    return false;
}

/* The result lies in the array, or is copied there. False: the shapes differ. */
static bool settle(const program_object *self, const char *name, Py_buffer *b)
{
    const stc_tensor *t;
    const void *values;
    int64_t n;
    if (stc_result(self->p, name, &t) || stc_tensor_order(t) != b->ndim) return false;
    for (int k = 0; k < b->ndim; k++)
        if (stc_tensor_shape(t)[k] != b->shape[k]) return false;
    if (stc_tensor_values(t, &values, &n)) return false;
    if (values != b->buf) memcpy(b->buf, values, (size_t)b->len);
    return true;
}

static PyObject *run_into(program_object *self, PyObject **object, stc_tensor **use,
                          Py_buffer *b)
{
    const char *name = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(self->names, 0), NULL);
    stc_decl d = {.size = sizeof d};
    const int taken = take_all(self, object, use);
    if (taken < 0 || !name) return NULL;
    if (!taken) return Py_NewRef(Py_NotImplemented);
    if (PyTuple_Size(self->names) != 1 || stc_program_decl(self->p, name, &d) ||
        strcmp(d.format, "dense") != 0 || !b->ndim || py_array_type(b) != d.type) {
        PyErr_SetString(PyExc_ValueError, "out: one dense result, and an array of its type "
                                          "in C's order, are needed");
        return NULL;
    }
    stc_status st = STC_OK;
    const bool lend = !overlaps(self, b);
    if (lend) st = stc_lend_result(self->p, name, b->buf, b->len / b->itemsize);
    if (!st) {
        Py_BEGIN_ALLOW_THREADS st = bind_and_run(self, use);
        Py_END_ALLOW_THREADS
    }
    PyObject *made = Py_NewRef(Py_None);
    if (!py_machine_good(st)) {
        Py_CLEAR(made);
        explain(self, st);
    } else if (!settle(self, name, b)) {
        PyErr_SetString(PyExc_ValueError, "out: the result has another shape");
        Py_CLEAR(made);
    }
    if (lend) stc_lend_result(self->p, name, NULL, 0);
    return made;
}

static PyObject *call(program_object *self, PyObject *args, PyObject *kwargs, Py_buffer *b)
{
    PyObject *object = (PyObject *)self;
    PyObject *from[64];
    stc_tensor *use[64];
    if (!match(self, args, kwargs, from) || self->owner->busy) {
        if (PyErr_Occurred()) return NULL;
        return Py_NewRef(Py_NotImplemented);
    }
    if (!py_machine_begin(self->owner)) return NULL;
    Py_INCREF(object);
    PyObject *made = b ? run_into(self, from, use, b) : run(self, from, use);
    for (int k = 0; k < self->count; k++)
        py_operand_release(&self->o[k]);
    unbind(self);
    py_machine_end(self->owner);
    if (!b) made = py_result_show(self->owner->st, made, self->like);
    Py_DECREF(object);
    return made;
}

static PyObject *program_call(PyObject *self, PyObject *args, PyObject *kwargs)
{
    return call((program_object *)self, args, kwargs, NULL);
}

/* into(out, operands, {name: operand}): None, with the result in the array `out`. */
static PyObject *program_into(PyObject *self, PyObject *args)
{
    PyObject *out, *list, *named;
    Py_buffer b;
    if (!PyArg_ParseTuple(args, "OO!O!", &out, &PyTuple_Type, &list, &PyDict_Type, &named))
        return NULL;
    if (PyObject_GetBuffer(out, &b, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | PyBUF_WRITABLE))
        return NULL;
    PyObject *made = call((program_object *)self, list, named, &b);
    PyBuffer_Release(&b);
    return made;
}

static bool result_names(program_object *self)
{
    PyObject *list = PyList_New(0);
    const char *name;
    bool is_result;
    for (int i = 0; list && (name = stc_program_name(self->p, i, &is_result)); i++) {
        if (!is_result) continue;
        PyObject *text = PyUnicode_FromString(name);
        if (!text || PyList_Append(list, text)) Py_CLEAR(list);
        Py_XDECREF(text);
    }
    self->names = list ? PyList_AsTuple(list) : NULL;
    Py_XDECREF(list);
    return self->names != NULL;
}

/* Declarations: the operands', then results' whose format the caller chose. */
static stc_status compile(program_object *self, const char *text, PyObject *formats)
{
    stc_decl decl[128];
    int n = 0;
    for (; n < self->count; n++) {
        const operand *o = &self->o[n];
        decl[n] = (stc_decl){0, o->text, o->format, (int)o->type, &o->fill, o->order};
    }
    PyObject *name, *format;
    Py_ssize_t at = 0;
    while (n < 128 && PyDict_Next(formats, &at, &name, &format)) {
        const char *what = PyUnicode_AsUTF8AndSize(name, NULL);
        const char *how = what ? PyUnicode_AsUTF8AndSize(format, NULL) : NULL;
        if (!how) return STC_ERR_ARGUMENT;
        decl[n++] = (stc_decl){0, what, how, -1, NULL, -1};
    }
    return stc_compile(self->owner->m, text, decl, n, &self->p);
}

static bool init_operands(program_object *self, PyObject *specs)
{
    const Py_ssize_t n = PyTuple_Size(specs);
    if (n > 64) PyErr_SetString(PyExc_ValueError, "more than 64 operands");
    if (n < 0 || n > 64) return false;
    self->o = calloc((size_t)n + 1, sizeof *self->o);
    if (!self->o) {
        PyErr_NoMemory();
        return false;
    }
    for (int k = 0; k < n; k++) {
        self->count = k + 1;
        if (!py_operand_init(&self->o[k], PyTuple_GetItem(specs, k))) return false;
    }
    return true;
}

PyObject *py_program_compile(machine_object *m, PyObject *args)
{
    const char *text;
    PyObject *specs, *formats, *like;
    if (!PyArg_ParseTuple(args, "sO!O!O", &text, &PyTuple_Type, &specs, &PyDict_Type,
                          &formats, &like))
        return NULL;
    program_object *self = py_object_new(m->st->program);
    if (!self) return NULL;
    self->owner = (machine_object *)Py_NewRef((PyObject *)m);
    self->specs = Py_NewRef(specs);
    self->like = Py_NewRef(like);
    bool made = init_operands(self, specs) && py_machine_begin(m);
    if (made) {
        const stc_status st = compile(self, text, formats);
        made = py_machine_good(st) && result_names(self);
        if (!made) py_machine_fail(m, st, NULL);
        py_machine_end(m);
    }
    if (!made) Py_CLEAR(self);
    return (PyObject *)self;
}

static PyObject *program_names(PyObject *self, void *none)
{
    (void)none;
    return Py_NewRef(((program_object *)self)->names);
}

static PyObject *program_explain(PyObject *object, PyObject *stage)
{
    program_object *self = (program_object *)object;
    const char *which = PyUnicode_AsUTF8AndSize(stage, NULL);
    if (!which || !py_machine_begin(self->owner)) return NULL;
    char *text = NULL;
    const stc_status st = stc_program_explain(self->p, which, &text);
    PyObject *out =
        st ? py_machine_fail(self->owner, st, NULL) : PyUnicode_FromString(text);
    stc_text_free(self->owner->m, text);
    py_machine_end(self->owner);
    return out;
}

/* The operands that the text uses: the others can't be bound. */
static PyObject *program_operands(PyObject *object, void *none)
{
    (void)none;
    program_object *self = (program_object *)object;
    PyObject *list = PyList_New(0);
    const char *name;
    bool is_result;
    for (int i = 0; list && (name = stc_program_name(self->p, i, &is_result)); i++) {
        PyObject *text = is_result ? NULL : PyUnicode_FromString(name);
        if (!is_result && (!text || PyList_Append(list, text))) Py_CLEAR(list);
        Py_XDECREF(text);
    }
    return list;
}

/* ---- parts ----------------------------------------------------------------------------- */

/* split(name, mode): a tuple (name, is_result, how, mode, coef, before, after, function) for
 * each name, as stc_split has them. */
static PyObject *program_split(PyObject *object, PyObject *args)
{
    program_object *self = (program_object *)object;
    stc_split row[160];
    const char *name;
    int mode, n = 0;
    if (!PyArg_ParseTuple(args, "si", &name, &mode) || !py_machine_begin(self->owner))
        return NULL;
    const stc_status st = stc_program_split(self->p, name, mode, row, 160, &n);
    PyObject *list = st ? py_machine_fail(self->owner, st, NULL) : PyList_New(0);
    for (int k = 0; list && k < n && k < 160; k++) {
        PyObject *one = Py_BuildValue(
            "sOiiLLLz", row[k].name, row[k].is_result ? Py_True : Py_False, (int)row[k].how,
            row[k].mode, (long long)row[k].coef, (long long)row[k].before,
            (long long)row[k].after, row[k].fn);
        if (!one || PyList_Append(list, one)) Py_CLEAR(list);
        Py_XDECREF(one);
    }
    py_machine_end(self->owner);
    return list;
}

/* part(name, mode, lo, hi): the program of a part. */
static PyObject *program_part(PyObject *object, PyObject *args)
{
    program_object *self = (program_object *)object;
    const char *name;
    int mode;
    long long lo, hi;
    if (!PyArg_ParseTuple(args, "siLL", &name, &mode, &lo, &hi)) return NULL;
    program_object *part = py_object_new(self->owner->st->program);
    if (!part) return NULL;
    part->owner = (machine_object *)Py_NewRef((PyObject *)self->owner);
    part->specs = Py_NewRef(self->specs);
    part->like = Py_NewRef(self->like);
    bool made = init_operands(part, part->specs) && py_machine_begin(part->owner);
    if (made) {
        const stc_status st = stc_program_part(self->p, name, mode, lo, hi, &part->p);
        made = !st && result_names(part);
        if (!made) py_machine_fail(part->owner, st, NULL);
        py_machine_end(part->owner);
    }
    if (!made) Py_CLEAR(part);
    return (PyObject *)part;
}

static PyMethodDef methods[] = {
    {"split", program_split, METH_VARARGS, "What parts need and make, by an index."},
    {"part", program_part, METH_VARARGS, "The program of a part."},
    {"into", program_into, METH_VARARGS, "Calls it, with the result in an array."},
    {"explain", program_explain, METH_O, "A stage of its way from text to code."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef getters[] = {
    {"results", program_names, NULL, "names of the results", NULL},
    {"operands", program_operands, NULL, "names of the operands", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, program_dealloc}, {Py_tp_call, program_call},
    {Py_tp_methods, methods},         {Py_tp_getset, getters},
    {Py_tp_doc, "A compiled text."},  {0, NULL},
};

PyType_Spec py_program_spec = {"stcvm._stcvm.Program", sizeof(program_object), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               slots};

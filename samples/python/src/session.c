/* session.c: sessions: named tensors, and statements executed one by one.
 */
#include "stcvm_py.h"
#include <stdlib.h>

typedef struct session_object {
    PyObject_HEAD machine_object *owner;
    stc_session *s;
} session_object;

PyObject *py_session_open(machine_object *m)
{
    session_object *self = py_object_new(m->st->session);
    if (!self) return NULL;
    self->owner = (machine_object *)Py_NewRef((PyObject *)m);
    if (!py_machine_begin(m)) {
        Py_DECREF(self);
        return NULL;
    }
    const stc_status st = stc_session_open(m->m, &self->s);
    if (st) {
        py_machine_fail(m, st, NULL);
        Py_CLEAR(self);
    }
    py_machine_end(m);
    return (PyObject *)self;
}

/* The session itself is freed by its machine, which nobody else uses. */
static void session_dealloc(PyObject *object)
{
    Py_XDECREF((PyObject *)((session_object *)object)->owner);
    py_object_free(object);
}

/* (text, file, limit): what was printed, and the failure or None. limit >= 0: an
 * expression by itself shows at most so many entries of its value. */
static PyObject *session_exec(PyObject *object, PyObject *args)
{
    session_object *self = (session_object *)object;
    machine_object *m = self->owner;
    const char *text, *file;
    long long limit;
    if (!PyArg_ParseTuple(args, "ssL", &text, &file, &limit) || !py_machine_begin(m))
        return NULL;
    char *shown = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&shown, &size);
    if (!out) {
        py_machine_end(m);
        return PyErr_NoMemory();
    }
    stc_session_output(self->s, out);
    stc_session_echo(self->s, limit >= 0, limit);
    stc_status st;
    Py_BEGIN_ALLOW_THREADS st = stc_session_exec(self->s, text, file);
    Py_END_ALLOW_THREADS stc_session_output(self->s, NULL);
    fclose(out);
    PyObject *fault = Py_NewRef(Py_None);
    if (!py_machine_good(st)) {
        PyObject *type, *trace;
        Py_DECREF(fault);
        py_machine_fail(m, st, NULL);
        PyErr_Fetch(&type, &fault, &trace);
        PyErr_NormalizeException(&type, &fault, &trace);
        Py_XDECREF(type);
        Py_XDECREF(trace);
    }
    py_machine_end(m);
    PyObject *made = Py_BuildValue(
        "(NN)", PyUnicode_DecodeUTF8(shown ? shown : "", (Py_ssize_t)size, "replace"),
        fault);
    free(shown);
    return made;
}

/* (name, tensor): the session has a copy. */
static PyObject *session_put(PyObject *object, PyObject *args)
{
    session_object *self = (session_object *)object;
    machine_object *m = self->owner;
    const char *name;
    PyObject *from;
    stc_tensor *copy = NULL;
    if (!PyArg_ParseTuple(args, "sO!", &name, m->st->tensor, &from)) return NULL;
    tensor_object *t = (tensor_object *)from;
    if (t->owner != m) {
        PyErr_SetString(PyExc_ValueError, "the tensor belongs to another machine");
        return NULL;
    }
    if (!py_machine_begin(m)) return NULL;
    stc_status st = stc_tensor_convert(t->t, NULL, -1, &copy);
    if (!st && (st = stc_session_put(self->s, name, copy))) {
        py_machine_fail(m, st, NULL);
        stc_tensor_free(copy);
    } else if (st) {
        py_machine_fail(m, st, NULL);
    }
    py_machine_end(m);
    return st ? NULL : Py_NewRef(Py_None);
}

static PyObject *session_get(PyObject *object, PyObject *name)
{
    session_object *self = (session_object *)object;
    machine_object *m = self->owner;
    const stc_tensor *t;
    stc_tensor *copy = NULL;
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    if (!text || !py_machine_begin(m)) return NULL;
    stc_status st = stc_session_get(self->s, text, &t);
    if (!st) st = stc_tensor_convert(t, NULL, -1, &copy);
    PyObject *made = st ? py_machine_fail(m, st, NULL) : py_tensor_wrap(m, copy);
    py_machine_end(m);
    return made;
}

static PyObject *session_names(PyObject *object, PyObject *none)
{
    (void)none;
    session_object *self = (session_object *)object;
    if (!py_machine_begin(self->owner)) return NULL;
    PyObject *list = PyList_New(0);
    const char *name;
    for (int i = 0; list && (name = stc_session_name(self->s, i)); i++) {
        PyObject *text = PyUnicode_FromString(name);
        if (!text || PyList_Append(list, text)) Py_CLEAR(list);
        Py_XDECREF(text);
    }
    py_machine_end(self->owner);
    return list;
}

static PyMethodDef methods[] = {
    {"exec", session_exec, METH_VARARGS, "(text, file, limit) -> (printed, failure)"},
    {"put", session_put, METH_VARARGS, "(name, tensor)"},
    {"get", session_get, METH_O, "(name) -> Tensor"},
    {"names", session_names, METH_NOARGS, "() -> names, in order of definition"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, session_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_doc, "A session of stcvm."},
    {0, NULL},
};

PyType_Spec py_session_spec = {"stcvm._stcvm.Session", sizeof(session_object), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               slots};

/* function.c: Python's functions as functions of the language. Each gets NumPy arrays
 * with the arguments of many calls, read only, and gives an array of their results.
 */
#include "stcvm_py.h"
#include <stdlib.h>
#include <string.h>

/* Lives as long as the machine: in a capsule that the machine keeps. */
typedef struct python_function {
    module_state *st;
    PyObject *call; /* (arrays…, dtype) -> a C-contiguous array of n elements    */
    int params;
    stc_type param[8], result;
} python_function;

static void function_free(PyObject *capsule)
{
    python_function *f = PyCapsule_GetPointer(capsule, NULL);
    if (!f) return;
    Py_XDECREF(f->call);
    free(f);
}

/* Bools are met as int64; the layer makes them bool again. */
static stc_type carried(stc_type type)
{
    return type == STC_BOOL ? STC_I64 : type;
}

static PyObject *arguments(const python_function *f, int64_t n, const void *const *args)
{
    PyObject *tuple = PyTuple_New(f->params);
    for (int k = 0; tuple && k < f->params; k++) {
        PyObject *a = py_array_copy(f->st, args[k], 1, &n, carried(f->param[k]));
        if (!a || PyTuple_SetItem(tuple, k, a)) Py_CLEAR(tuple);
    }
    return tuple;
}

static bool call_python(const python_function *f, int64_t n, const void *const *args,
                        void *out)
{
    PyObject *tuple = arguments(f, n, args);
    PyObject *made = tuple ? PyObject_CallObject(f->call, tuple) : NULL;
    Py_buffer b;
    bool good = made && PyObject_GetBuffer(made, &b, PyBUF_CONTIG_RO | PyBUF_FORMAT) == 0;
    if (good) {
        const size_t size = (size_t)n * stc_type_size(carried(f->result));
        good = (size_t)b.len == size && py_array_type(&b) == (int)carried(f->result);
        if (good) memcpy(out, b.buf, size);
        if (!good) PyErr_SetString(PyExc_TypeError, "a function gave another type or size");
        PyBuffer_Release(&b);
    }
    Py_XDECREF(made);
    Py_XDECREF(tuple);
    return good;
}

static stc_status call_function(void *context, int64_t n, const void *const *args,
                                void *out, const char **why)
{
    const python_function *f = context;
    const PyGILState_STATE gil = PyGILState_Ensure();
    bool good = !PyErr_Occurred(); /* a failing one isn't called again for its place */
    if (good) good = call_python(f, n, args, out) && PyErr_CheckSignals() == 0;
    if (!good) *why = "a Python function raised an exception";
    PyGILState_Release(gil);
    return good ? STC_OK : STC_ERR_ARGUMENT;
}

/* (head, (parameter types, result type), call) */
PyObject *py_function_register(machine_object *m, PyObject *args)
{
    const char *head;
    PyObject *params, *call;
    int result;
    int64_t type[STC_MAX_ORDER];
    if (!PyArg_ParseTuple(args, "s(Oi)O", &head, &params, &result, &call)) return NULL;
    const int n = py_shape_from(params, type);
    if (n < 0) return NULL;
    if (n < 1 || n > 8) {
        PyErr_Format(PyExc_ValueError, "a function of %d parameters; expected 1 to 8", n);
        return NULL;
    }
    python_function *f = calloc(1, sizeof *f);
    if (!f) return PyErr_NoMemory();
    *f = (python_function){.st = m->st, .params = n, .result = (stc_type)result};
    stc_signature sig = {.result = f->result, .call = call_function};
    for (int k = 0; k < n; k++)
        sig.param[k] = f->param[k] = (stc_type)type[k];
    PyObject *capsule = PyCapsule_New(f, NULL, function_free);
    if (!capsule) {
        free(f);
        return NULL;
    }
    f->call = Py_NewRef(call);
    const stc_function as = {sizeof as, head, 1, &sig, f};
    bool made = PyList_Append(m->functions, capsule) == 0 && py_machine_begin(m);
    Py_DECREF(capsule);
    if (!made) return NULL;
    const stc_status st = stc_function_register(m->m, &as);
    PyObject *fault = st ? py_machine_fail(m, st, NULL) : NULL;
    py_machine_end(m);
    return st ? fault : Py_NewRef(Py_None);
}

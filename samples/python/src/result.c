/* result.c: results as Python's objects, which own what they show: small dense ones
 * are copied and stay in the program for its next run, the others are moved out of it.
 */
#include "stcvm_py.h"
#include <string.h>

enum { SMALL = 1 << 16 }; /* bytes that are copied rather than moved */

static PyObject *show_one(module_state *st, PyObject *made, PyObject *like)
{
    if (!made || Py_TYPE(made) != st->tensor) return made;
    PyObject *shown = PyObject_CallFunctionObjArgs(st->wrap, made, like, NULL);
    Py_DECREF(made);
    return shown;
}

PyObject *py_result_show(module_state *st, PyObject *made, PyObject *like)
{
    if (!made || !PyDict_Check(made)) return show_one(st, made, like);
    PyObject *all = PyDict_New(), *name, *one;
    Py_ssize_t at = 0;
    while (all && PyDict_Next(made, &at, &name, &one)) {
        PyObject *shown = show_one(st, Py_NewRef(one), like);
        if (!shown || PyDict_SetItem(all, name, shown)) Py_CLEAR(all);
        Py_XDECREF(shown);
    }
    Py_DECREF(made);
    return all;
}

PyObject *py_result_make(machine_object *m, stc_program *p, const char *name)
{
    const stc_tensor *t;
    stc_tensor *mine;
    const void *values = NULL;
    int64_t n = 0, want = 1;
    stc_status st = stc_result(p, name, &t);
    if (!st) st = stc_tensor_values(t, &values, &n);
    if (st) return py_machine_fail(m, st, name);
    const int order = stc_tensor_order(t);
    const stc_type type = stc_tensor_type(t);
    const int64_t *shape = stc_tensor_shape(t);
    if (order == 0) return py_value_to_python(m->st, type, py_value_load(type, values));
    for (int k = 0; k < order; k++)
        want *= shape[k]; /* a dense tensor of this shape exists: it fits */
    if (n >= want && strcmp(stc_tensor_format(t), "dense") == 0 &&
        (size_t)want * stc_type_size(type) <= SMALL)
        return py_array_copy(m->st, values, order, shape, type);
    if ((st = stc_take(p, name, &mine))) return py_machine_fail(m, st, name);
    return py_tensor_wrap(m, mine);
}

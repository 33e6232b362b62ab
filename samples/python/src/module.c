/* module.c: the module's state and its types.
 */
#include "stcvm_py.h"
#include <string.h>

static bool add_type(PyObject *module, PyType_Spec *spec, const char *name,
                     PyTypeObject **type)
{
    *type = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
    return *type && PyModule_AddObjectRef(module, name, (PyObject *)*type) == 0;
}

static bool add_types(PyObject *module, module_state *st)
{
    return add_type(module, &py_machine_spec, "Machine", &st->machine) &&
           add_type(module, &py_tensor_spec, "Tensor", &st->tensor) &&
           add_type(module, &py_program_spec, "Program", &st->program) &&
           add_type(module, &py_session_spec, "Session", &st->session) &&
           add_type(module, &py_view_spec, "View", &st->view);
}

static bool add_names(module_state *st)
{
    const struct {
        PyObject **to;
        const char *name;
    } all[] = {
        {&st->name_data, "data"},       {&st->name_indices, "indices"},
        {&st->name_indptr, "indptr"},   {&st->name_shape, "shape"},
        {&st->name_row, "row"},         {&st->name_col, "col"},
        {&st->name_offsets, "offsets"}, {&st->name_handle, "_handle"},
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        *all[k].to = PyUnicode_InternFromString(all[k].name);
        if (!*all[k].to) return false;
    }
    return true;
}

static bool add_numpy(PyObject *module, module_state *st)
{
    static const char *const names[TYPES] = {"?",  "i1", "i2", "i4", "i8", "u1", "u2",
                                             "u4", "u8", "f4", "f8", "c8", "c16"};
    PyObject *numpy = PyImport_ImportModule("numpy");
    if (!numpy) return false;
    st->ndarray = PyObject_GetAttrString(numpy, "ndarray");
    st->empty = PyObject_GetAttrString(numpy, "empty");
    st->frombuffer = PyObject_GetAttrString(numpy, "frombuffer");
    bool made = st->ndarray && st->empty && st->frombuffer;
    PyObject *list = PyList_New(0);
    for (int k = 0; list && made && k < TYPES; k++) {
        st->dtype[k] = PyObject_CallMethod(numpy, "dtype", "s", names[k]);
        made = st->dtype[k] && PyList_Append(list, st->dtype[k]) == 0;
    }
    made = made && list && PyModule_AddObjectRef(module, "dtypes", list) == 0;
    Py_XDECREF(list);
    Py_DECREF(numpy);
    return made;
}

static int module_exec(PyObject *module)
{
    module_state *st = PyModule_GetState(module);
    memset(st, 0, sizeof *st);
    if (!add_types(module, st) || !add_names(st) || !add_numpy(module, st)) return -1;
    return PyModule_AddStringConstant(module, "version", STC_VERSION);
}

/* (make_error, wrap): the Python layer's share. */
static PyObject *module_hooks(PyObject *module, PyObject *args)
{
    module_state *st = PyModule_GetState(module);
    PyObject *make_error, *wrap;
    if (!PyArg_ParseTuple(args, "OO", &make_error, &wrap)) return NULL;
    Py_XDECREF(st->make_error);
    Py_XDECREF(st->wrap);
    st->make_error = Py_NewRef(make_error);
    st->wrap = Py_NewRef(wrap);
    Py_RETURN_NONE;
}

static PyObject *module_words(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    PyObject *list = PyList_New(0);
    const char *word;
    for (int i = 0; list && (word = stc_word(i)); i++) {
        PyObject *text = PyUnicode_FromString(word);
        if (!text || PyList_Append(list, text)) Py_CLEAR(list);
        Py_XDECREF(text);
    }
    return list;
}

static PyObject *module_incomplete(PyObject *module, PyObject *text)
{
    (void)module;
    const char *from = PyUnicode_AsUTF8AndSize(text, NULL);
    return from ? PyBool_FromLong(stc_session_incomplete(from)) : NULL;
}

static PyMethodDef methods[] = {
    {"hooks", module_hooks, METH_VARARGS, "(make_error, wrap): what the layer provides."},
    {"words", module_words, METH_NOARGS, "The words of the language."},
    {"incomplete", module_incomplete, METH_O, "Whether a text ends within a statement."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {{Py_mod_exec, module_exec}, {0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_stcvm",
    .m_doc = "stcvm's C API; the package stcvm is what programs use.",
    .m_size = sizeof(module_state),
    .m_methods = methods,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__stcvm(void);
PyMODINIT_FUNC PyInit__stcvm(void)
{
    return PyModuleDef_Init(&definition);
}

/* machine.c: machines, who uses them, their failures as exceptions, and signals.
 */
#include "stcvm_py.h"
#include <stdlib.h>
#include <time.h>

void *py_object_new(PyTypeObject *type)
{
    allocfunc make = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    return make(type, 0);
}

void py_object_free(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

/* Long work asks here: Python's own signal handlers run, Ctrl-C among them. */
static int poll_signals(void *context, const char *what, uint64_t done, uint64_t total)
{
    (void)context, (void)what, (void)done, (void)total;
    const PyGILState_STATE gil = PyGILState_Ensure();
    const int stop = PyErr_Occurred() || PyErr_CheckSignals() != 0;
    PyGILState_Release(gil);
    return stop;
}

static bool wait_until_free(machine_object *self)
{
    const struct timespec nap = {0, 100000};
    while (self->busy) {
        Py_BEGIN_ALLOW_THREADS nanosleep(&nap, NULL);
        Py_END_ALLOW_THREADS if (PyErr_CheckSignals()) return false;
    }
    return true;
}

bool py_machine_begin(machine_object *self)
{
    const unsigned long me = PyThread_get_thread_ident();
    if (self->busy && self->user == me) {
        PyErr_SetString(PyExc_RuntimeError,
                        "this tensor's machine is in a call of this very thread: a "
                        "function that it calls can't use its tensors");
        return false;
    }
    if (self->busy && !wait_until_free(self)) return false;
    self->busy = true;
    self->user = me;
    return true;
}

static void bury_one(stc_program *program, stc_tensor *tensor)
{
    stc_program_free(program);
    stc_tensor_free(tensor);
}

void py_machine_end(machine_object *self)
{
    while (self->dead) {
        grave *g = self->dead;
        self->dead = g->next;
        bury_one(g->program, g->tensor);
        free(g);
    }
    self->dead_end = &self->dead;
    self->busy = false;
}

void py_machine_bury(machine_object *self, stc_program *program, stc_tensor *tensor)
{
    if (!program && !tensor) return;
    if (!self->busy) {
        bury_one(program, tensor);
        return;
    }
    grave *g = malloc(sizeof *g);
    if (!g) return; /* stc_close frees programs; a tensor's memory is lost */
    *g = (grave){.program = program, .tensor = tensor};
    *self->dead_end = g;
    self->dead_end = &g->next;
}

PyObject *py_machine_fail(machine_object *self, stc_status st, const char *operand)
{
    if (PyErr_Occurred()) return NULL;
    const stc_error_info *e = stc_error(self->m);
    PyObject *error = PyObject_CallFunction(
        self->st->make_error, "issiiisz", (int)st, e->message, e->file ? e->file : "",
        e->line, e->column, e->length, e->text ? e->text : "", operand);
    if (!error) return NULL;
    PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_DECREF(error);
    return NULL;
}

bool py_machine_good(stc_status st)
{
    if (st) return false;
    if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_Exception)) PyErr_Clear();
    return !PyErr_Occurred();
}

static PyObject *machine_make(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"threads",  "max_memory",    "max_steps",
                            "no_files", "deterministic", NULL};
    stc_config config = {.progress = poll_signals};
    unsigned long long memory = 0, steps = 0;
    int no_files = 0, deterministic = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|iKKpp", names, &config.threads,
                                     &memory, &steps, &no_files, &deterministic))
        return NULL;
    config.max_memory = memory;
    config.max_steps = steps;
    config.no_files = no_files;
    config.deterministic = deterministic;
    PyObject *module = PyType_GetModule(type);
    if (!module) return NULL;
    machine_object *self = py_object_new(type);
    if (!self) return NULL;
    self->module = Py_NewRef(module);
    self->st = PyModule_GetState(module);
    self->dead_end = &self->dead;
    self->functions = PyList_New(0);
    if (self->functions && stc_open(&config, &self->m) != STC_OK) PyErr_NoMemory();
    if (!self->m) Py_CLEAR(self);
    return (PyObject *)self;
}

static void machine_dealloc(PyObject *object)
{
    machine_object *self = (machine_object *)object;
    stc_close(self->m); /* tensors and programs hold the machine: there are none */
    Py_XDECREF(self->functions);
    Py_XDECREF(self->module);
    py_object_free(object);
}

static PyObject *machine_notes(PyObject *object, PyObject *none)
{
    (void)none;
    return PyUnicode_FromString(stc_notes(((machine_object *)object)->m));
}

static PyObject *machine_interrupt(PyObject *object, PyObject *none)
{
    (void)none;
    stc_interrupt(((machine_object *)object)->m);
    Py_RETURN_NONE;
}

static PyObject *machine_threads(PyObject *object, PyObject *number)
{
    machine_object *self = (machine_object *)object;
    const long n = PyLong_AsLong(number);
    if (n == -1 && PyErr_Occurred()) return NULL;
    if (!py_machine_begin(self)) return NULL;
    const stc_status st = stc_set_threads(self->m, (int)n);
    PyObject *fault = st ? py_machine_fail(self, st, NULL) : NULL;
    py_machine_end(self);
    return st ? fault : Py_NewRef(Py_None);
}

static PyObject *machine_busy(PyObject *object, void *none)
{
    (void)none;
    return PyBool_FromLong(((machine_object *)object)->busy);
}

static PyObject *machine_memory(PyObject *object, void *none)
{
    (void)none;
    return PyLong_FromUnsignedLongLong(stc_memory_used(((machine_object *)object)->m));
}

static PyObject *machine_functions(PyObject *object, void *none)
{
    (void)none;
    return PyLong_FromSsize_t(PyList_Size(((machine_object *)object)->functions));
}

static PyObject *machine_compile(PyObject *self, PyObject *args)
{
    return py_program_compile((machine_object *)self, args);
}

static PyObject *machine_copy(PyObject *self, PyObject *args)
{
    return py_tensor_from_operand((machine_object *)self, args);
}

static PyObject *machine_arrays(PyObject *self, PyObject *args)
{
    return py_tensor_from_arrays((machine_object *)self, args);
}

static PyObject *machine_coords(PyObject *self, PyObject *args)
{
    return py_tensor_from_coords((machine_object *)self, args);
}

static PyObject *machine_function(PyObject *self, PyObject *args)
{
    return py_function_register((machine_object *)self, args);
}

static PyObject *machine_session(PyObject *self, PyObject *none)
{
    (void)none;
    return py_session_open((machine_object *)self);
}

static PyMethodDef methods[] = {
    {"compile", machine_compile, METH_VARARGS, "(text, specs, results, like) -> Program"},
    {"copy", machine_copy, METH_VARARGS, "(spec, object, format) -> Tensor"},
    {"from_arrays", machine_arrays, METH_VARARGS,
     "(format, type, shape, fill, values, [(level, role, array)]) -> Tensor"},
    {"from_coords", machine_coords, METH_VARARGS,
     "(format, type, shape, fill, coords, values) -> Tensor"},
    {"register", machine_function, METH_VARARGS, "(head, signatures, call) -> None"},
    {"session", machine_session, METH_NOARGS, "() -> Session"},
    {"notes", machine_notes, METH_NOARGS, "What the last compilation had to say."},
    {"interrupt", machine_interrupt, METH_NOARGS, "Ends the call that is under way."},
    {"set_threads", machine_threads, METH_O, "The threads of later runs."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef getters[] = {
    {"busy", machine_busy, NULL, "whether a call is under way", NULL},
    {"functions", machine_functions, NULL, "how many were registered", NULL},
    {"memory", machine_memory, NULL, "bytes held", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, machine_make}, {Py_tp_dealloc, machine_dealloc},   {Py_tp_methods, methods},
    {Py_tp_getset, getters},   {Py_tp_doc, "A machine of stcvm."}, {0, NULL},
};

PyType_Spec py_machine_spec = {"stcvm._stcvm.Machine", sizeof(machine_object), 0,
                               Py_TPFLAGS_DEFAULT, slots};

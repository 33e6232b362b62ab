/* stcvm_py.h: what the files of the extension share. Python's limited API and
 * stcvm's public header, nothing else: NumPy's arrays are met through the buffer
 * protocol, SciPy's matrices through their attributes.
 *
 * Whoever holds the GIL may look at `busy`; whoever set it may use the machine,
 * with or without the GIL. What dies while another thread uses its machine is
 * buried when that call is over.
 */
#ifndef STCVM_PY_H
#define STCVM_PY_H

#include <Python.h>
#include <stcvm.h>

enum { TYPES = STC_C128 + 1 };

/* What the module has once, reached through each of its objects. */
typedef struct module_state {
    PyTypeObject *machine, *tensor, *program, *session, *view;
    PyObject *ndarray, *empty, *frombuffer; /* NumPy's                         */
    PyObject *dtype[TYPES];
    PyObject *make_error; /* the Python layer's: (status, message, …) -> exception */
    PyObject *wrap;       /* (tensor, program's like) -> what the caller sees      */
    PyObject *name_data, *name_indices, *name_indptr, *name_shape;
    PyObject *name_row, *name_col, *name_offsets, *name_handle;
} module_state;

/* What was freed while its machine was busy. */
typedef struct grave {
    struct grave *next;
    stc_tensor *tensor;
    stc_program *program;
} grave;

typedef struct machine_object {
    PyObject_HEAD PyObject *module; /* keeps the state */
    module_state *st;
    stc_machine *m;
    bool busy;
    unsigned long user; /* the thread that has it, while it is busy               */
    grave *dead, **dead_end;
    PyObject *functions; /* that were registered: they live as long               */
} machine_object;

/* An array of a tensor, and where it belongs. */
typedef struct tensor_array {
    int level, role;
    stc_array a;
} tensor_array;

/* A tensor of its own: nothing in it is lent, and it never changes. What it consists
 * of is noted when it is made, so that other threads can read it at any time. */
typedef struct tensor_object {
    PyObject_HEAD machine_object *owner;
    stc_tensor *t;
    char *format;
    void *values;
    int64_t stored; /* values, padding too                                      */
    tensor_array *array;
    int arrays;
} tensor_object;

/* machine.c */
extern PyType_Spec py_machine_spec;
/* Takes the machine, and waits while another thread has it. False: an exception. */
bool py_machine_begin(machine_object *self);
void py_machine_end(machine_object *self);
/* Raises what the status says, unless an exception is under way. Gives NULL. */
PyObject *py_machine_fail(machine_object *self, stc_status st, const char *operand);
/* Whether a call succeeded: exceptions of functions of Python's that it could do
 * without (when it tried them for a fill) are forgotten, Ctrl-C isn't. */
bool py_machine_good(stc_status st);
/* Frees the program, then the tensor, now or when the machine isn't busy. */
void py_machine_bury(machine_object *self, stc_program *program, stc_tensor *tensor);
/* A module's object of a type made by PyType_FromSpec; and its end. */
void *py_object_new(PyTypeObject *type);
void py_object_free(PyObject *self);

/* arrays.c */
extern PyType_Spec py_view_spec;
/* The element type of a buffer; -1: none of stcvm's, or not in this byte order. */
int py_array_type(const Py_buffer *b);
/* 4 or 8 for a vector of signed integers of this width, else 0. */
int py_array_index_width(const Py_buffer *b);
/* An array over memory that `owner` keeps, `fixed`: for reading; a new one with a copy of
 * the bytes. */
PyObject *py_array_view(module_state *st, PyObject *owner, void *data, int64_t n,
                        stc_type type, bool fixed);
PyObject *py_array_copy(module_state *st, const void *data, int order, const int64_t *shape,
                        stc_type type);
PyObject *py_array_empty(module_state *st, int order, const int64_t *shape, stc_type type,
                         Py_buffer *b);
/* From and to a number, by type. */
PyObject *py_value_to_python(module_state *st, stc_type type, stc_value v);
bool py_value_from_python(PyObject *from, stc_type type, stc_value *to);
bool py_value_is_zero(stc_type type, stc_value v);
stc_value py_value_load(stc_type type, const void *from);
PyObject *py_shape_tuple(int order, const int64_t *shape);
/* The order, -1: an exception. */
int py_shape_from(PyObject *tuple, int64_t *shape);

/* operand.c */
typedef enum operand_kind { DENSE, CSR, CSC, COO, BSR, DIA, NUMBER, TENSOR } operand_kind;

typedef struct operand {
    PyObject *name; /* a string                                                 */
    char *text, *format;
    operand_kind kind;
    stc_type type;
    int order, axis[STC_MAX_ORDER]; /* DENSE: the axes, from the slowest on        */
    int64_t block[2];               /* BSR                                        */
    stc_value fill;
    PyObject *cls; /* objects of this type alone                               */

    stc_tensor *own, *bound; /* that lends; what the program has                 */
    PyObject *held;          /* TENSOR: keeps `bound`                             */
    int64_t shape[STC_MAX_ORDER], bounds[2];
    Py_buffer buffer[3];
    int buffers;
    union {
        double f[2];
        int64_t i;
    } number;
} operand;

/* From a tuple (name, kind, type, order, format, fill, cls, extra). */
bool py_operand_init(operand *o, PyObject *spec);
/* Has the object's arrays in o->own, or its tensor in *use. 1: yes, 0: the object
 * isn't of this kind, -1: an exception. Buffers are held until py_operand_release. */
int py_operand_take(machine_object *m, operand *o, PyObject *from, stc_tensor **use);
void py_operand_release(operand *o);
void py_operand_free(machine_object *m, operand *o);

/* result.c: a number, an array, or a tensor_object; and that as the Python layer
 * wants it, when the machine may be used again. py_result_show takes `made`. */
PyObject *py_result_make(machine_object *m, stc_program *p, const char *name);
PyObject *py_result_show(module_state *st, PyObject *made, PyObject *like);

/* tensor.c */
extern PyType_Spec py_tensor_spec;
/* Takes t, even when it fails. */
PyObject *py_tensor_wrap(machine_object *m, stc_tensor *t);
PyObject *py_tensor_from_operand(machine_object *m, PyObject *args);
PyObject *py_tensor_from_arrays(machine_object *m, PyObject *args);
PyObject *py_tensor_from_coords(machine_object *m, PyObject *args);

/* program.c, session.c, function.c */
extern PyType_Spec py_program_spec, py_session_spec;
PyObject *py_program_compile(machine_object *m, PyObject *args);
PyObject *py_session_open(machine_object *m);
PyObject *py_function_register(machine_object *m, PyObject *args);

#endif

/* A decision component of Batsim 5, made by batsched-py: the C functions that Batsim calls, and Python behind them. */

#define _GNU_SOURCE
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The interpreter that made this library, and what it was made for. */
static const char executable[] = $executable;
static const char prefix[] = $prefix;
static const char libpython[] = $libpython;
static const char module[] = $module;
static const char settings[] = $settings;
static const char *const path[] = {$path NULL};

/* Keys of thread-specific data for each namespace of dlmopen; there are 16 of these, and 1024 keys. */
#define KEYS 64

/* The Python object that decides; NULL before a simulation and after it. */
static PyObject *component;
/* The latest reply: Batsim reads it until its next call. */
static PyObject *latest;
/* Not 0 after a start that failed: another one replaces the component. */
static int refused;
/* Not 0 while Python runs: an algorithm that ends the process must not be called again. */
static int inside;

/* Return the path of the object with this address; "" if there is none. */
static const char *file_of(void *address) {
    Dl_info found;
    return address && dladdr(address, &found) && found.dli_fname ? found.dli_fname : "";
}

/* Report an error in one line, as other commands of batsched-py do, and return 0. Names of files and texts of exceptions
 * in it can neither end the line nor control the terminal. */
static int fail(const char *format, ...) {
    char line[8192];
    va_list values;
    int begun = snprintf(line, sizeof line, "batsched-py: error: %.4096s: ", file_of((void *)path));
    va_start(values, format);
    vsnprintf(line + begun, sizeof line - (size_t)begun, format, values);
    va_end(values);
    for (char *at = line; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?';
    fprintf(stderr, "%s\n", line);
    fflush(stderr);
    return 0;
}

/* Report what Python has raised. */
static int fail_with_exception(const char *what) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    PyObject *words = value ? PyObject_Str(value) : NULL;
    const char *text = words ? PyUnicode_AsUTF8(words) : NULL;
    fail("%s: %s", what, text ? text : "no reason is known");
    PyErr_Clear(); /* of an exception whose text cannot be had */
    Py_XDECREF(words);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return 0;
}

/* Take keys of thread-specific data that no other namespace uses: each has its own libc, which counts from 0, but all use
 * one table in each thread, in which Python finds its state. */
static int skip_keys(long namespace) {
    pthread_key_t unused;
    for (long number = 0; number < namespace * KEYS; number++)
        pthread_key_create(&unused, NULL);
    return 1;
}

/* Make the symbols of Python global: its extension modules need them. In a namespace of dlmopen they see those of the
 * first library, which is this one, and all that it is linked with; glibc crashes on RTLD_GLOBAL there. */
static int share_python(void) {
    if (access(executable, X_OK) != 0)
        return fail("the Python that made it is gone, %s: make it again with 'batsched-py library'", executable);
    void *self = dlopen(file_of((void *)path), RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE); /* Python cannot be unloaded */
#ifdef LM_ID_BASE
    Lmid_t namespace = LM_ID_BASE;
    if (self && dlinfo(self, RTLD_DI_LMID, &namespace) == 0 && namespace != LM_ID_BASE)
        return skip_keys(namespace);
#endif
    void *other = dlsym(dlopen(NULL, RTLD_NOW), "Py_GetVersion");
    if (other && strcmp(file_of(other), file_of(dlsym(self, "Py_GetVersion"))) != 0)
        return fail("another Python is in this process, of %s: load each library with dlmopen", file_of(other));
    if (!dlopen(libpython, RTLD_NOW | RTLD_GLOBAL))
        return fail("its Python cannot be loaded: %s", dlerror());
    return 1;
}

/* Start the interpreter, as that of the virtual environment in which this library was made. Signals stay Batsim's. */
static int start_python(void) {
    PyPreConfig before;
    PyConfig config;
    PyPreConfig_InitIsolatedConfig(&before);
    before.utf8_mode = 1;
    PyStatus status = Py_PreInitialize(&before);
    if (PyStatus_Exception(status))
        return fail("its Python cannot be started: %s", status.err_msg);
    PyConfig_InitIsolatedConfig(&config);
    status = PyConfig_SetBytesString(&config, &config.program_name, executable);
    if (!PyStatus_Exception(status))
        status = PyConfig_SetBytesString(&config, &config.executable, executable);
    if (!PyStatus_Exception(status))
        status = Py_InitializeFromConfig(&config);
    PyConfig_Clear(&config);
    if (PyStatus_Exception(status))
        return fail("its Python cannot be started: %s", status.err_msg ? status.err_msg : "it ends at once");
    PyEval_SaveThread();
    return 1;
}

/* Check whose interpreter this is: another library of this process may have started it. */
static int check_prefix(void) {
    PyObject *found = PySys_GetObject("prefix"); /* borrowed */
    const char *text = found ? PyUnicode_AsUTF8(found) : NULL;
    if (text && strcmp(text, prefix) == 0)
        return 1;
    return fail("it needs the Python of %s, but that of %s is in this process: load each library with dlmopen", prefix,
                text ? text : "another environment");
}

/* Add what the maker's sys.path had and this one lacks. */
static int complete_path(void) {
    PyObject *known = PySys_GetObject("path"); /* borrowed */
    for (const char *const *folder = path; known && *folder; folder++) {
        PyObject *text = PyUnicode_DecodeFSDefault(*folder);
        if (!text || (PySequence_Contains(known, text) == 0 && PyList_Append(known, text) != 0))
            return fail_with_exception("its folders cannot be used");
        Py_XDECREF(text);
    }
    return 1;
}

/* Call a method with one argument of bytes. */
static PyObject *call(PyObject *object, const char *method, const char *data, size_t size) {
    PyObject *name = PyUnicode_DecodeFSDefault(method);
    PyObject *content = PyBytes_FromStringAndSize(data, (Py_ssize_t)size);
    inside++;
    PyObject *result = name && content ? PyObject_CallMethodObjArgs(object, name, content, NULL) : NULL;
    inside--;
    Py_XDECREF(name);
    Py_XDECREF(content);
    return result;
}

/* Import batsched-py and create the component. Failures that have a reason there are reported there. */
static int open_component(void) {
    if (!check_prefix() || !complete_path())
        return 0;
    inside++;
    PyObject *found = PyImport_ImportModule(module);
    inside--;
    if (!found)
        return fail_with_exception("batsched-py cannot be imported");
    component = call(found, "open_component", settings, sizeof settings - 1);
    Py_XDECREF(found);
    if (!component)
        return fail_with_exception("it cannot be started");
    if (PyObject_IsTrue(component) == 1)
        return 1;
    Py_XDECREF(component);
    component = NULL;
    return 0;
}

/* Pass a message to Python; its reply, after `skipped` bytes, is readable until the next call. */
static int ask(const char *message, size_t size, size_t skipped, uint8_t **reply, uint32_t *reply_size) {
    char *content;
    Py_ssize_t length;
    Py_CLEAR(latest);
    latest = call(component, "answer", message, size);
    if (!latest || PyBytes_AsStringAndSize(latest, &content, &length) != 0)
        return fail_with_exception("it cannot decide");
    if ((size_t)length <= skipped) /* an error, which was reported */
        return 0;
    *reply = (uint8_t *)content + skipped;
    *reply_size = (uint32_t)((size_t)length - skipped);
    return 1;
}

/* Greet as Batsim does over a socket: with the size of its text; the answer begins with the number of the format. */
static int greet(const uint8_t *data, uint32_t size, uint32_t *flags, uint8_t **reply, uint32_t *reply_size) {
    char *greeting = malloc(sizeof size + size);
    if (!greeting)
        return fail("there is no memory for a text of %lu bytes", (unsigned long)size);
    memcpy(greeting, &size, sizeof size);
    if (size)
        memcpy(greeting + sizeof size, data, size);
    int done = ask(greeting, sizeof size + size, sizeof *flags, reply, reply_size);
    free(greeting);
    if (done)
        memcpy(flags, *reply - sizeof *flags, sizeof *flags);
    return done;
}

/* End a simulation; 0 if it failed. The interpreter remains, because Python's extension modules cannot be started twice. */
static int end_component(void) {
    PyObject *closed = call(component, "close", "", 0);
    int done = closed ? PyObject_IsTrue(closed) == 1 : fail_with_exception("it cannot be ended");
    Py_XDECREF(closed);
    Py_CLEAR(component);
    Py_CLEAR(latest);
    return done;
}

/* Start, with a text of the user; 0 if that succeeds. After a failure it may be started again. */
uint8_t batsim_edc_init(const uint8_t *data, uint32_t size, uint32_t *flags, uint8_t **reply, uint32_t *reply_size) {
    if (component && !refused)
        return !fail("it decides for a simulation already: load it again with dlmopen, or make a second library");
    if (!share_python() || (!Py_IsInitialized() && !start_python()))
        return 1;
    PyGILState_STATE state = PyGILState_Ensure();
    if (component)
        end_component();
    int done = open_component() && greet(data, size, flags, reply, reply_size);
    refused = !done;
    PyGILState_Release(state);
    return !done;
}

/* Answer a message; 0 if that succeeds. */
uint8_t batsim_edc_take_decisions(const uint8_t *what, uint32_t size, uint8_t **decisions, uint32_t *decisions_size) {
    if (!component)
        return !fail("it was not started, so it cannot decide");
    PyGILState_STATE state = PyGILState_Ensure();
    int done = ask((const char *)what, size, 0, decisions, decisions_size);
    PyGILState_Release(state);
    return !done;
}

/* End; 0 if that succeeds. */
uint8_t batsim_edc_deinit(void) {
    if (!component)
        return 0;
    PyGILState_STATE state = PyGILState_Ensure();
    int done = end_component();
    PyGILState_Release(state);
    return !done;
}

/* A Batsim that exits without an end, as in a deadlock: files are completed, and the reason is reported. */
__attribute__((destructor)) static void end_with_process(void) {
    if (component && !inside && Py_IsInitialized())
        batsim_edc_deinit();
}

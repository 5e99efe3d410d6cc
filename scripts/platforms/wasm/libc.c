/*
 * The C library functions that Rust's standard library needs in WebAssembly. Debian's wasi-libc is for a single thread, and
 * Rust's threads target cannot be linked with it: it needs an errno for each thread.
 *
 * There are no files here: every call that needs one fails with ENOSYS, which Rust shows as "unsupported". The clock and
 * the text of a panic come from JavaScript: lib/native/wasm.js. src/wasm.rs has the memory. This file keeps no state that
 * threads share.
 */

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ssize_t;

enum { ENOSYS = 52, REALTIME = 0, MONOTONIC = 1 };

_Thread_local int errno;

/* Runs Rust's constructors. If nothing called them, the linker would make every export call them. */
extern void __wasm_call_ctors(void);
__attribute__((export_name("_initialize"))) void _initialize(void) { __wasm_call_ctors(); }

_Noreturn void abort(void) { __builtin_trap(); }

/* Time */

struct __clockid { int number; };
struct timespec { long long seconds; long nanoseconds; };

const struct __clockid _CLOCK_REALTIME = {REALTIME}, _CLOCK_MONOTONIC = {MONOTONIC};

/* Milliseconds since 1970, or since any instant if `monotonic`. */
__attribute__((import_module("flakeforge"), import_name("now"))) double now(int monotonic);

int clock_gettime(const struct __clockid *clock, struct timespec *time) {
    double ms = now(clock->number);
    time->seconds = (long long)(ms / 1000);
    time->nanoseconds = (long)((ms - (double)time->seconds * 1000) * 1e6);
    return 0;
}

/* The text of a panic */

struct iovec { const char *text; size_t length; };

__attribute__((import_module("flakeforge"), import_name("print"))) void print(const char *text, size_t length);

ssize_t write(int file, const void *text, size_t length) {
    print(text, length);
    return (ssize_t)length;
}

ssize_t writev(int file, const struct iovec *parts, int count) {
    ssize_t length = 0;
    for (int i = 0; i < count; i++) length += write(file, parts[i].text, parts[i].length);
    return length;
}

int strerror_r(int number, char *text, size_t size) {
    static const char UNSUPPORTED[] = "WebAssembly has no files";
    if (size < sizeof UNSUPPORTED) return number;
    __builtin_memcpy(text, UNSUPPORTED, sizeof UNSUPPORTED);
    return 0;
}

char *getenv(const char *name) { return 0; }

/* Threads: Rust starts none, and none of its threads ends, so nothing has to run then. */

int pthread_key_create(unsigned *key, void (*destroy)(void *)) { return *key = 1, 0; }
int pthread_key_delete(unsigned key) { return 0; }
int pthread_setspecific(unsigned key, const void *value) { return 0; }

/* Files */

static int none(void) { return errno = ENOSYS, -1; }

int open(const char *path, int flags, ...) { return none(); }
int close(int file) { return none(); }
int fcntl(int file, int command, ...) { return none(); }
int fstat(int file, void *info) { return none(); }
int stat(const char *path, void *info) { return none(); }
int mkdir(const char *path, unsigned mode) { return none(); }
ssize_t read(int file, void *data, size_t size) { return none(); }
ssize_t readlink(const char *path, char *target, size_t size) { return none(); }
char *realpath(const char *path, char *absolute) { return none(), (char *)0; }
char *getcwd(char *folder, size_t size) { return none(), (char *)0; }
void *opendir(const char *path) { return none(), (void *)0; }
void *readdir(void *folder) { return none(), (void *)0; }
int dirfd(void *folder) { return none(); }
int closedir(void *folder) { return none(); }

// Preloaded into a program, this shifts its clock by the number of nanoseconds in a file. The file is mapped into memory, so a
// running program's clock steps when another number is written there.
//
// Programs read the time by code that the kernel maps into each of them, the vDSO: C libraries do, and so does Go, which needs
// no C library for it. This code is replaced, so none of them can tell. Clocks that only count, such as CLOCK_MONOTONIC, stay
// right, as they do when an administrator sets the time.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

// Of a CPU: the instruction that jumps to the address after it, the prefix of functions of the vDSO, and since which glibc
// waiting has its present form.
#if defined(__x86_64__)
#define JUMP 0x90900000000225ff // jmp [rip + 2]; nop; nop
#define IN_VDSO "__vdso_"
#define WAIT_SINCE "GLIBC_2.3.2"
#elif defined(__aarch64__)
#define JUMP 0xd61f020058000050 // ldr x16, 8; br x16
#define IN_VDSO "__kernel_"
#define WAIT_SINCE "GLIBC_2.17"
#endif

#define SECOND 1000000000L
#define SLICE (SECOND / 20)

static const volatile int64_t *wrong_by;

static struct timespec shifted(struct timespec at, int64_t by) {
  int64_t ns = at.tv_nsec + by;
  int64_t rest = ((ns % SECOND) + SECOND) % SECOND;
  return (struct timespec){ .tv_sec = at.tv_sec + (ns - rest) / SECOND, .tv_nsec = rest };
}

// A real call to the kernel: the replaced code can no longer be called.
static int read_clock(clockid_t clock, struct timespec *at) {
  int result = syscall(SYS_clock_gettime, clock, at);
  int is_wall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
  if (result == 0 && is_wall) *at = shifted(*at, *wrong_by);
  return result;
}

static int read_microseconds(struct timeval *at, void *zone) {
  struct timespec now;
  read_clock(CLOCK_REALTIME, &now);
  if (at != NULL) *at = (struct timeval){ .tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000 };
  if (zone != NULL) memset(zone, 0, sizeof(struct timezone));
  return 0;
}

static time_t read_seconds(time_t *at) {
  struct timespec now;
  read_clock(CLOCK_REALTIME, &now);
  if (at != NULL) *at = now.tv_sec;
  return now.tv_sec;
}

static int is_before(struct timespec one, struct timespec other) {
  return one.tv_sec < other.tv_sec || (one.tv_sec == other.tv_sec && one.tv_nsec < other.tv_nsec);
}

// The kernel ends a wait by its own clock, so the end is converted. It waits for a slice at a time, because the wrong clock may
// be set meanwhile. A small time belongs to a clock that counts from the start of the machine.
int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *until) {
  static int (*wait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
  if (wait == NULL) wait = dlvsym(RTLD_NEXT, "pthread_cond_timedwait", WAIT_SINCE);
  if (until->tv_sec < SECOND) return wait(cond, mutex, until);
  for (;;) {
    struct timespec slice, meant = shifted(*until, -*wrong_by);
    syscall(SYS_clock_gettime, CLOCK_REALTIME, &slice);
    slice = shifted(slice, SLICE);
    int result = wait(cond, mutex, is_before(slice, meant) ? &slice : &meant);
    struct timespec now;
    read_clock(CLOCK_REALTIME, &now);
    if (result != ETIMEDOUT || !is_before(now, *until)) return result;
  }
}

static void fail(const char *what) {
  perror(what);
  _exit(127);
}

// The kernel allows no change of the protection of a part of the vDSO.
static void protect_vdso(int how) {
  const ElfW(Ehdr) *image = (void *)getauxval(AT_SYSINFO_EHDR);
  if (image == NULL) fail("There is no vDSO");
  const ElfW(Phdr) *part = (void *)((char *)image + image->e_phoff);
  while (part->p_type != PT_LOAD) part++;
  if (mprotect((void *)image, part->p_memsz, how) != 0) fail("The vDSO cannot be changed");
}

// Overwrites the beginning of a function of the vDSO, if the function exists.
static void replace(const char *name, void *instead) {
  char *function = dlsym(dlopen("linux-vdso.so.1", RTLD_NOLOAD | RTLD_NOW), name);
  if (function == NULL) return;
  struct { uint64_t jump; void *to; } lead = { JUMP, instead };
  memcpy(function, &lead, sizeof lead);
  __builtin___clear_cache(function, function + sizeof lead);
}

__attribute__((constructor)) static void begin(void) {
  int file = open(getenv("CLOCK_FILE"), O_RDONLY | O_CLOEXEC);
  if (file < 0) fail("CLOCK_FILE");
  wrong_by = mmap(NULL, sizeof *wrong_by, PROT_READ, MAP_SHARED, file, 0);
  if (wrong_by == MAP_FAILED) fail("CLOCK_FILE");
  close(file);
  protect_vdso(PROT_READ | PROT_WRITE | PROT_EXEC);
  replace(IN_VDSO "clock_gettime", read_clock);
  replace(IN_VDSO "gettimeofday", read_microseconds);
  replace(IN_VDSO "time", read_seconds);
  protect_vdso(PROT_READ | PROT_EXEC);
}

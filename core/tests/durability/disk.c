// Preloaded into a process, this records what a disk is certain to have: every sync of a process, with the bytes of the
// file, or the names in the folder, as they were when the call began. It can also make a sync fail or stop the process
// before it, and show another boot of the machine.
//
//   DISK_JOURNAL   folder for the journal and the files that it names
//   DISK_FAILS     the sync that fails with EIO, counted from 1; with a `+` at its end, all from there on
//   DISK_STOPS     the sync before which the process stops itself
//   DISK_HANGS     file: while it exists, every sync waits, and makes a file of this name with `.waiting` at its end
//   DISK_BOOT      file that is read in place of the machine's boot ID
//
// A line of the journal: `file INODE BYTES`, `folder INODE NAMES`, `failed INODE BYTES`; the last word names a file
// next to it. All processes together do and record one sync at a time, so that the lines are in the disk's order.

#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static _Atomic int syncs;

static int names_sync(const char *variable, int nth) {
    const char *text = getenv(variable);
    if (text == NULL || *text == '\0') return 0;
    return nth == atoi(text) || (nth > atoi(text) && text[strlen(text) - 1] == '+');
}

/// Waits while the disk hangs.
static void wait_for_disk(void) {
    const char *hangs = getenv("DISK_HANGS");
    if (hangs == NULL) return;
    char waiting[4096];
    snprintf(waiting, sizeof waiting, "%s.waiting", hangs);
    while (access(hangs, F_OK) == 0) {
        close(open(waiting, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
        usleep(1000);
    }
}

/// Writes the bytes of a file.
static void copy_file(int from, FILE *to) {
    char bytes[4096];
    for (ssize_t got; (got = read(from, bytes, sizeof bytes)) > 0;) fwrite(bytes, 1, got, to);
    close(from);
}

/// Writes the names in a folder.
static void copy_folder(int from, FILE *to) {
    DIR *folder = fdopendir(from);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        fprintf(to, "%ju %s %s\n", (uintmax_t)entry->d_ino, entry->d_type == DT_DIR ? "folder" : "file", entry->d_name);
    }
    closedir(folder);
}

/// Syncs the file that `fd` has open, by `call`, and records it.
static int recorded(int fd, int (*call)(void *), void *arguments) {
    int nth = ++syncs;
    wait_for_disk();
    if (names_sync("DISK_STOPS", nth)) raise(SIGSTOP);
    const char *journal = getenv("DISK_JOURNAL");
    struct stat found;
    if (journal == NULL || fstat(fd, &found) != 0) return call(arguments);
    char name[64], path[4096];
    snprintf(name, sizeof name, "%d-%d", getpid(), nth);
    snprintf(path, sizeof path, "%s/journal", journal);
    int lines = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    flock(lines, LOCK_EX);

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd); // again, since it may be open for writing only
    int reader = open(path, O_RDONLY | O_CLOEXEC);
    snprintf(path, sizeof path, "%s/%s", journal, name);
    FILE *copy = fopen(path, "we");
    (S_ISDIR(found.st_mode) ? copy_folder : copy_file)(reader, copy);
    fclose(copy);
    int failed = names_sync("DISK_FAILS", nth);
    int result = failed ? -1 : call(arguments);
    const char *what = failed ? "failed" : S_ISDIR(found.st_mode) ? "folder" : "file";
    dprintf(lines, "%s %ju %s\n", what, (uintmax_t)found.st_ino, name);

    close(lines); // which releases the lock
    if (failed) errno = EIO;
    return result;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int real_fsync(void *fd) { return REAL(fsync)(*(int *)fd); }
static int real_fdatasync(void *fd) { return REAL(fdatasync)(*(int *)fd); }

int fsync(int fd) { return recorded(fd, real_fsync, &fd); }
int fdatasync(int fd) { return recorded(fd, real_fdatasync, &fd); }

struct range {
    void *start;
    size_t length;
    int flags;
};

static int real_msync(void *given) {
    struct range *range = given;
    return REAL(msync)(range->start, range->length, range->flags);
}

/// The file that is mapped there, opened again; -1 if there is none.
static int open_mapped(void *address) {
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[8192], path[4096];
    int fd = -1;
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        uintptr_t start, end;
        int got = sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*s %*s %*s %*s %4095[^\n]", &start, &end, path);
        if (got == 3 && start <= (uintptr_t)address && (uintptr_t)address < end) fd = open(path, O_RDONLY | O_CLOEXEC);
    }
    if (maps != NULL) fclose(maps);
    return fd;
}

int msync(void *start, size_t length, int flags) {
    struct range range = {start, length, flags};
    int fd = open_mapped(start);
    int result = (flags & MS_SYNC) ? recorded(fd, real_msync, &range) : real_msync(&range);
    int error = errno;
    if (fd >= 0) close(fd);
    errno = error;
    return result;
}

/// The name to open in place of another.
static const char *instead_of(const char *path) {
    const char *boot = getenv("DISK_BOOT");
    return boot != NULL && strcmp(path, "/proc/sys/kernel/random/boot_id") == 0 ? boot : path;
}

static mode_t mode_of(int flags, va_list rest) {
    return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(rest, mode_t) : 0;
}

#define OPENS(name)                                       \
    int name(const char *path, int flags, ...) {          \
        va_list rest;                                     \
        va_start(rest, flags);                            \
        mode_t mode = mode_of(flags, rest);               \
        va_end(rest);                                     \
        return REAL(name)(instead_of(path), flags, mode); \
    }

OPENS(open)
OPENS(open64)

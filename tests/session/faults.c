/* Makes the n-th write or sync of one file and its journal fail, as a broken or full disk would: to be loaded before the C library.
   FAULT_PATH: what the file's path contains; FAULT_CALL: "write" or "sync"; FAULT_AT: which call, from 1; FAULT_LASTING: every later one too. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static int calls = 0;

static int fails(int fd, const char *call) {
    const char *path = getenv("FAULT_PATH"), *wanted = getenv("FAULT_CALL"), *at = getenv("FAULT_AT");
    char link[64], real[4096];
    if (!path || !wanted || !at || strcmp(wanted, call)) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, real, sizeof real - 1);
    if (length < 0) return 0;
    real[length] = 0;
    if (!strstr(real, path)) return 0;
    calls++;
    return getenv("FAULT_LASTING") ? calls >= atoi(at) : calls == atoi(at);
}

static int is_sync(int fd) { return fails(fd, "sync"); }

ssize_t pwrite64(int fd, const void *data, size_t size, off_t offset) {
    static ssize_t (*real)(int, const void *, size_t, off_t);
    if (!real) real = dlsym(RTLD_NEXT, "pwrite64");
    if (fails(fd, "write")) {
        if (size > 1) real(fd, data, size / 2, offset); /* half of it lands: a torn write */
        errno = ENOSPC;
        return -1;
    }
    return real(fd, data, size, offset);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) { return pwrite64(fd, data, size, offset); }

ssize_t write(int fd, const void *data, size_t size) {
    static ssize_t (*real)(int, const void *, size_t);
    if (!real) real = dlsym(RTLD_NEXT, "write");
    if (fails(fd, "write")) { errno = ENOSPC; return -1; }
    return real(fd, data, size);
}

int fsync(int fd) {
    static int (*real)(int);
    if (!real) real = dlsym(RTLD_NEXT, "fsync");
    if (is_sync(fd)) { errno = EIO; return -1; }
    return real(fd);
}

int fdatasync(int fd) {
    static int (*real)(int);
    if (!real) real = dlsym(RTLD_NEXT, "fdatasync");
    if (is_sync(fd)) { errno = EIO; return -1; }
    return real(fd);
}

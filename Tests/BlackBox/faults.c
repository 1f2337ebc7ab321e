/* Faults of the disk, put between the program and libc by LD_PRELOAD and steered from outside while it runs.
 *
 * FAULTS_CONTROL names a file of one `struct control`, which the test maps too; FAULTS_UNDER the directory whose files
 * are meant. Everything else passes. faults.py is the other side: it knows the same layout.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum call { WRITE, SYNC, TRUNCATE, OPEN, READ, CALLS };
enum { SHORT = -1 }; /* instead of an errno: no error, but a short write */
enum file { DATABASE = 1, WAL = 2, SHM = 4, OTHER = 8 };

struct rule {
    int32_t error;    /* errno of those that fail; 0: none does */
    int32_t files;    /* which files, a sum of enum file */
    int32_t every;    /* every so many calls one fails; 1: all */
    int32_t partial;  /* most bytes of such a write that are written, whether it then fails or is only short; 0: no limit */
    int32_t lose;     /* a failing sync takes back what was written since the last one that did not fail */
    int32_t delay;    /* milliseconds that each call takes longer */
    int32_t hold;     /* calls wait while this is not 0 */
    int32_t calls, failed, waiting; /* counted here */
};

struct control {
    struct rule rules[CALLS];
};

/* What was overwritten since the last sync of a file, newest first. */
struct undo {
    struct undo *next;
    dev_t device;
    ino_t inode;
    off_t offset, size; /* size: of the file before */
    size_t count;
    char bytes[];
};

/* How often a sync of a file has lost what was written. */
struct loss {
    struct loss *next;
    dev_t device;
    ino_t inode;
    int count;
};

enum { DESCRIPTORS = 4096 };

static volatile struct control *control;
static const char *under;
static struct undo *undone;
static struct loss *losses;
static int seen[DESCRIPTORS]; /* the count of its file's losses that was reported to each descriptor */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pread)(int, void *, size_t, off_t);
static int (*real_fsync)(int), (*real_fdatasync)(int);
static int (*real_ftruncate)(int, off_t);
static int (*real_open)(const char *, int, ...);

static void begin(void) {
    real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
    real_write = dlsym(RTLD_NEXT, "write");
    real_pread = dlsym(RTLD_NEXT, "pread64");
    real_fsync = dlsym(RTLD_NEXT, "fsync");
    real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
    real_ftruncate = dlsym(RTLD_NEXT, "ftruncate64");
    real_open = dlsym(RTLD_NEXT, "open64");
    const char *path = getenv("FAULTS_CONTROL");
    under = getenv("FAULTS_UNDER");
    int fd = path && under ? real_open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0) return;
    void *page = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (page != MAP_FAILED) control = page;
}

/* Other libraries' constructors call us before any of ours would run. */
static int is_steered(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, begin);
    return control != NULL;
}

static int kind_of(const char *path) {
    size_t length = strlen(under);
    if (strncmp(path, under, length) != 0 || (path[length] != '/' && path[length] != 0)) return 0;
    const char *name = path + length;
    if (strstr(name, "-wal")) return WAL;
    if (strstr(name, "-shm")) return SHM;
    return strstr(name, "timers.db") ? DATABASE : OTHER;
}

/* 0 for a file that is not meant. */
static int kind_of_descriptor(int fd) {
    char link[64], path[4096];
    if (!is_steered()) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return kind_of(path);
}

/* Waits as the rule says; returns the errno to fail with, or 0, or SHORT. */
static int fault(enum call call, int kind) {
    if (!kind) return 0;
    volatile struct rule *rule = &control->rules[call];
    if (!(rule->files & kind)) return 0;
    int number = __atomic_add_fetch(&rule->calls, 1, __ATOMIC_SEQ_CST);
    if (rule->delay) usleep(rule->delay * 1000);
    if (rule->hold) {
        __atomic_add_fetch(&rule->waiting, 1, __ATOMIC_SEQ_CST);
        while (rule->hold) usleep(1000);
        __atomic_sub_fetch(&rule->waiting, 1, __ATOMIC_SEQ_CST);
    }
    int error = rule->error;
    if ((!error && !rule->partial) || number % (rule->every > 0 ? rule->every : 1)) return 0;
    __atomic_add_fetch(&rule->failed, 1, __ATOMIC_SEQ_CST);
    return error ? error : SHORT;
}

static int is_of(struct undo *undo, struct stat *status) {
    return undo->device == status->st_dev && undo->inode == status->st_ino;
}

/* Notes what the next `count` bytes at `offset` replace. */
static void remember(int fd, off_t offset, size_t count) {
    struct stat status;
    if (fstat(fd, &status) != 0) return;
    struct undo *undo = malloc(sizeof *undo + count);
    if (!undo) abort();
    ssize_t old = real_pread(fd, undo->bytes, count, offset);
    undo->device = status.st_dev, undo->inode = status.st_ino;
    undo->offset = offset, undo->size = status.st_size, undo->count = old < 0 ? 0 : (size_t)old;
    pthread_mutex_lock(&lock);
    undo->next = undone;
    undone = undo;
    pthread_mutex_unlock(&lock);
}

/* Forgets what was noted of a file, or takes it all back. */
static void settle(int fd, int take_back) {
    struct stat status;
    if (fstat(fd, &status) != 0) return;
    pthread_mutex_lock(&lock);
    for (struct undo **place = &undone; *place;) {
        struct undo *undo = *place;
        if (!is_of(undo, &status)) {
            place = &undo->next;
            continue;
        }
        if (take_back) {
            if (undo->count) real_pwrite(fd, undo->bytes, undo->count, undo->offset);
            if (real_ftruncate(fd, undo->size) != 0) abort();
        }
        *place = undo->next;
        free(undo);
    }
    pthread_mutex_unlock(&lock);
}

/* The losses of the descriptor's file. Called with the lock held. */
static int *losses_of(int fd) {
    static int none;
    struct stat status;
    if (fstat(fd, &status) != 0) return &none;
    for (struct loss *loss = losses; loss; loss = loss->next)
        if (loss->device == status.st_dev && loss->inode == status.st_ino) return &loss->count;
    struct loss *loss = calloc(1, sizeof *loss);
    if (!loss) abort();
    loss->next = losses, loss->device = status.st_dev, loss->inode = status.st_ino;
    losses = loss;
    return &loss->count;
}

/* Reports each loss once to each descriptor that was open then, as Linux does. Returns whether one was not reported yet. */
static int report_loss(int fd, int is_new) {
    if (fd >= DESCRIPTORS) abort();
    pthread_mutex_lock(&lock);
    int *count = losses_of(fd);
    if (is_new) ++*count;
    int is_due = seen[fd] != *count;
    seen[fd] = *count;
    pthread_mutex_unlock(&lock);
    return is_due;
}

static ssize_t write_at(int fd, const void *bytes, size_t count, off_t offset) {
    int kind = kind_of_descriptor(fd);
    int error = fault(WRITE, kind);
    if (kind && control->rules[SYNC].lose) remember(fd, offset, count);
    if (!error) return real_pwrite(fd, bytes, count, offset);
    size_t part = control->rules[WRITE].partial;
    ssize_t written = part ? real_pwrite(fd, bytes, part < count ? part : count, offset) : 0;
    if (error == SHORT) return written;
    errno = error;
    return -1;
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off_t offset) { return write_at(fd, bytes, count, offset); }
ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) { return write_at(fd, bytes, count, offset); }

ssize_t write(int fd, const void *bytes, size_t count) {
    int error = fault(WRITE, kind_of_descriptor(fd));
    if (!error || error == SHORT) return real_write(fd, bytes, count);
    errno = error;
    return -1;
}

static ssize_t read_at(int fd, void *bytes, size_t count, off_t offset) {
    int error = fault(READ, kind_of_descriptor(fd));
    if (!error || error == SHORT) return real_pread(fd, bytes, count, offset);
    errno = error;
    return -1;
}

ssize_t pread64(int fd, void *bytes, size_t count, off_t offset) { return read_at(fd, bytes, count, offset); }
ssize_t pread(int fd, void *bytes, size_t count, off_t offset) { return read_at(fd, bytes, count, offset); }

static int sync_file(int fd, int (*real)(int)) {
    int kind = kind_of_descriptor(fd);
    int error = fault(SYNC, kind);
    if (kind && control->rules[SYNC].lose) {
        settle(fd, error != 0);
        if (report_loss(fd, error != 0) && !error) error = EIO;
    }
    if (!error) return real(fd);
    errno = error;
    return -1;
}

int fsync(int fd) { return sync_file(fd, real_fsync); }
int fdatasync(int fd) { return sync_file(fd, real_fdatasync); }

static int truncate_file(int fd, off_t size) {
    int error = fault(TRUNCATE, kind_of_descriptor(fd));
    if (!error) return real_ftruncate(fd, size);
    errno = error;
    return -1;
}

int ftruncate64(int fd, off_t size) { return truncate_file(fd, size); }
int ftruncate(int fd, off_t size) { return truncate_file(fd, size); }

/* As on a read-only file system only opening to write fails. */
static int open_file(const char *path, int flags, mode_t mode) {
    int error = is_steered() && (flags & (O_WRONLY | O_RDWR)) ? fault(OPEN, kind_of(path)) : 0;
    if (!error) {
        int fd = real_open(path, flags, mode);
        if (fd >= 0 && is_steered() && kind_of(path)) report_loss(fd, 0);
        return fd;
    }
    errno = error;
    return -1;
}

static mode_t mode_of(int flags, va_list rest) { return flags & O_CREAT ? va_arg(rest, mode_t) : 0; }

int open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = mode_of(flags, rest);
    va_end(rest);
    return open_file(path, flags, mode);
}

int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = mode_of(flags, rest);
    va_end(rest);
    return open_file(path, flags, mode);
}

// LD_PRELOAD for a server: every sync takes a millisecond longer, as on a disk across a network.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

static int slowly(int result) {
  static const struct timespec delay = {.tv_nsec = 1000000};
  int error = errno;
  clock_nanosleep(CLOCK_MONOTONIC, 0, &delay, NULL);
  errno = error;
  return result;
}

int fsync(int fd) {
  int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  return slowly(next(fd));
}

int fdatasync(int fd) {
  int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  return slowly(next(fd));
}

int sync_file_range(int fd, off64_t offset, off64_t count, unsigned flags) {
  int (*next)(int, off64_t, off64_t, unsigned) =
      (int (*)(int, off64_t, off64_t, unsigned))dlsym(RTLD_NEXT, "sync_file_range");
  return slowly(next(fd, offset, count, flags));
}

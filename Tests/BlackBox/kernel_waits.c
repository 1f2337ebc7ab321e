/* Leaves waiting to the kernel where libfaketime stands behind this in LD_PRELOAD. The server waits by clocks that no
 * calendar moves; libfaketime reckons the instants of all waits by its calendar, so that they would end at once.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

int timerfd_settime(int fd, int flags, const struct itimerspec *value, struct itimerspec *old)
{
    return (int)syscall(SYS_timerfd_settime, fd, flags, value, old);
}

static int (*libc_wait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);

__attribute__((constructor)) static void find(void)
{
    *(void **)&libc_wait = dlsym(dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD), "pthread_cond_timedwait");
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until)
{
    if (!libc_wait)
        find();
    return libc_wait(condition, mutex, until);
}

/* epoll_ctl(2) that fails as it does where the kernel can watch no more, for sockets that are watched for the peer's end
 * alone, while the file that UNWATCHED names exists. Put before libc by LD_PRELOAD.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

int epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event) {
    static int (*real)(int, int, int, struct epoll_event *);
    const char *path = getenv("UNWATCHED");
    if (!real) real = dlsym(RTLD_NEXT, "epoll_ctl");
    if (operation == EPOLL_CTL_ADD && event->events == EPOLLRDHUP && path && access(path, F_OK) == 0) {
        errno = ENOSPC;
        return -1;
    }
    return real(epoll, operation, fd, event);
}

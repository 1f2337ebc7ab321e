/* As if the calendar were set each time that an alarm is armed to hear of it: the kernel arms it, and says ECANCELED. */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

int timerfd_settime(int fd, int flags, const struct itimerspec *value, struct itimerspec *old)
{
    int result = (int)syscall(SYS_timerfd_settime, fd, flags, value, old);
    if (result == 0 && flags & TFD_TIMER_CANCEL_ON_SET) {
        errno = ECANCELED;
        return -1;
    }
    return result;
}

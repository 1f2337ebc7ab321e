#define _GNU_SOURCE
#include "CLinux.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

int clinux_accept(int listener, void *peer, unsigned int room) {
  return accept4(listener, peer, &room, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

static int find_identity(int descriptor, const char *path, int flags, struct clinux_identity *identity) {
  struct statx found;
  if (statx(descriptor, path, flags, STATX_INO, &found) == 0) {
    identity->device = makedev(found.stx_dev_major, found.stx_dev_minor);
    identity->inode = found.stx_ino;
    return 0;
  }
  // The sandboxes of older container runtimes know no statx, and refuse it.
  struct stat older;
  if (fstatat(descriptor, path, &older, flags) != 0) return -1;
  identity->device = older.st_dev;
  identity->inode = older.st_ino;
  return 0;
}

int clinux_path_identity(const char *path, int follows_link, struct clinux_identity *identity) {
  return find_identity(AT_FDCWD, path, follows_link ? 0 : AT_SYMLINK_NOFOLLOW, identity);
}

int clinux_descriptor_identity(int descriptor, struct clinux_identity *identity) {
  return find_identity(descriptor, "", AT_EMPTY_PATH, identity);
}

int clinux_epoll_set(int epoll, int fd, uint32_t events, uint64_t tag, int modify) {
  struct epoll_event event = {.events = events, .data = {.u64 = tag}};
  return epoll_ctl(epoll, modify ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event);
}

int clinux_epoll_wait(int epoll, struct clinux_event *events, int capacity, int timeout_ms) {
  struct epoll_event ready[256];
  int count = epoll_wait(epoll, ready, capacity < 256 ? capacity : 256, timeout_ms);
  for (int i = 0; i < count; i++) {
    events[i].tag = ready[i].data.u64;
    events[i].events = ready[i].events;
  }
  return count;
}

int clinux_timerfd_set(int fd, int64_t ns, int cancel_on_set) {
  struct itimerspec when = {.it_value = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000}};
  return timerfd_settime(fd, TFD_TIMER_ABSTIME | (cancel_on_set ? TFD_TIMER_CANCEL_ON_SET : 0), &when, NULL);
}

void clinux_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }

void clinux_timer_slack(unsigned long ns) { prctl(PR_SET_TIMERSLACK, ns, 0, 0, 0); }

int clinux_random(void *bytes, size_t count) {
  for (size_t done = 0; done < count;) {
    ssize_t got = getrandom((char *)bytes + done, count - done, 0);
    if (got < 0 && errno != EINTR) return -1;
    if (got > 0) done += (size_t)got;
  }
  return 0;
}

#if defined(__x86_64__)
#include <nmmintrin.h>

__attribute__((target("sse4.2"))) static uint32_t hardware(uint32_t crc, const uint8_t *bytes, size_t count) {
  uint64_t state = crc;
  for (; count >= 8; bytes += 8, count -= 8) {
    uint64_t word;
    memcpy(&word, bytes, 8);
    state = _mm_crc32_u64(state, word);
  }
  for (; count > 0; bytes++, count--) state = _mm_crc32_u8((uint32_t)state, *bytes);
  return (uint32_t)state;
}

static int has_hardware(void) { return __builtin_cpu_supports("sse4.2"); }
#else
static uint32_t hardware(uint32_t crc, const uint8_t *bytes, size_t count) {
  (void)bytes, (void)count;
  return crc;
}

static int has_hardware(void) { return 0; }
#endif

// Reflected polynomial of CRC-32C, a nibble at a time: small, for processors without the instruction.
static uint32_t software(uint32_t crc, const uint8_t *bytes, size_t count) {
  static const uint32_t nibble[16] = {
      0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
      0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75};
  for (; count > 0; bytes++, count--) {
    crc ^= *bytes;
    crc = (crc >> 4) ^ nibble[crc & 15];
    crc = (crc >> 4) ^ nibble[crc & 15];
  }
  return crc;
}

uint32_t clinux_crc32c(uint32_t crc, const void *bytes, size_t count) {
  return ~(has_hardware() ? hardware(~crc, bytes, count) : software(~crc, bytes, count));
}

// Threads write at the same time, so the writes under way are counted. Atomics of this size need no lock, as a handler must
// have it.
static _Atomic int outputs;
static _Atomic int ending;

static void end_process(int number) {
  if (outputs == 0 || ending != 0) _exit(128 + number);
  ending = number;
}

void clinux_take_end_signals(void) {
  static const int numbers[] = {SIGINT, SIGTERM};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    struct sigaction action;
    if (sigaction(numbers[i], NULL, &action) != 0 || action.sa_handler == SIG_IGN) continue;
    memset(&action, 0, sizeof action);
    sigemptyset(&action.sa_mask);
    action.sa_handler = end_process;
    sigaction(numbers[i], &action, NULL);
  }
}

void clinux_begin_output(void) { outputs++; }

void clinux_end_output(void) {
  outputs--;
  if (ending != 0) _exit(128 + ending);
}

int clinux_is_ending(void) { return ending != 0; }

int clinux_processors_in_mask(void) {
  cpu_set_t mask;
  return sched_getaffinity(0, sizeof mask, &mask) ? -1 : CPU_COUNT(&mask);
}

void clinux_trim_memory(void) { malloc_trim(0); }

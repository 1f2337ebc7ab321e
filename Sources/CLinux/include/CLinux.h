// What Swift's Glibc module lacks of Linux: variadic calls, epoll, eventfd, timerfd, statx, CRC-32C.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

/// One result of an epoll wait: the tag given at registration and the ready events.
struct clinux_event {
  uint64_t tag;
  uint32_t events;
};

/// CRC-32C (Castagnoli), continuing from `crc` (0 to start).
uint32_t clinux_crc32c(uint32_t crc, const void *bytes, size_t count);

/// Adds (or, where `modify` is set, changes) `fd` in `epoll`. Returns 0 or -1 with errno.
int clinux_epoll_set(int epoll, int fd, uint32_t events, uint64_t tag, int modify);
/// Waits; returns how many events were written, or -1 with errno. `capacity` is at most 256.
int clinux_epoll_wait(int epoll, struct clinux_event *events, int capacity, int timeout_ms);

/// Arms an absolute timerfd at `ns`; 0 disarms. `cancel_on_set` also ends the wait when the clock is stepped.
int clinux_timerfd_set(int fd, int64_t ns, int cancel_on_set);

/// Accepts a connection, whose socket does not block and is closed on exec. Returns it, or -1 with errno. `peer` has room for
/// any address.
int clinux_accept(int listener, void *peer, unsigned int room);

/// The device and the inode that a file lies in.
struct clinux_identity {
  uint64_t device;
  uint64_t inode;
};

/// Sets `identity` to that of the file named `path`, or of the link where it is one and `follows_link` is 0. Returns 0, or -1
/// with errno.
int clinux_path_identity(const char *path, int follows_link, struct clinux_identity *identity);
/// Sets `identity` to that of the open file. Returns 0, or -1 with errno.
int clinux_descriptor_identity(int descriptor, struct clinux_identity *identity);

/// Names the calling thread, at most 15 bytes.
void clinux_name_thread(const char *name);
/// Tells the kernel how late it may wake the calling thread, in nanoseconds.
void clinux_timer_slack(unsigned long ns);

/// Has SIGINT and SIGTERM end the process with 128 and their number. By default they do nothing to the first process of a
/// container. One that is ignored stays so.
void clinux_take_end_signals(void);
/// From here on, and until `clinux_end_output`, the first such signal only makes a note of itself, so that a write under way is
/// completed; the second one ends the process.
void clinux_begin_output(void);
/// Ends the process where a signal has made a note of itself.
void clinux_end_output(void);
/// Whether a signal has made a note of itself.
int clinux_is_ending(void);

/// Returns the number of processors in the calling thread's affinity mask, or -1 with errno.
int clinux_processors_in_mask(void);

/// Gives free memory that the allocator keeps back to the system.
void clinux_trim_memory(void);

/// Fills `bytes` with random ones. Returns 0, or -1 with errno.
int clinux_random(void *bytes, size_t count);

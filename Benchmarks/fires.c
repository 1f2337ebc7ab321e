// How late fires arrive at a client, and how many a second.
//
//   fires timerd PORT COUNT
//       reads COUNT fires from the server's stream; the timers are made by someone else, before or meanwhile
//   fires redis|beanstalkd PORT COUNT
//       makes COUNT timers due within one second, and takes each off the server: a poll each millisecond by a script
//       that gives and removes up to a thousand, or RESERVE and DELETE, 64 at a time
//   fires timerfd COUNT SECONDS
//       what the machine does by itself: a timerfd and epoll for COUNT instants, one after another
//
// Prints fires a second, from the first arrival to the last, then p50, p99 and p99.9 of the milliseconds from the due
// instant to the arrival, and how much of a core this process took in percent from the first to the last; for timerd
// also p50, p99 and p99.9 of its own latenessUs, to the decision, before the commit.
#define _GNU_SOURCE
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "protocol.h"
#include "stream.h"

enum { POLLED = 1000, RESERVED = 64, POLL_US = 1000, PATIENCE_MS = 60000, MADE_AT_ONCE = 1000 };
// How long making a timer may take.
enum { MAKING_US = 30 };

static long *late_us, *decided_late_us;
static long fired, wanted, first_us, last_us;
static double cpu_at_first;

static double cpu_seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void arrived(long due_us, long at_us) {
  if (fired == wanted) give_up("more fires than timers");
  if (at_us < due_us) give_up("a fire came %ld us early", due_us - at_us);
  if (!fired) {
    first_us = at_us;
    cpu_at_first = cpu_seconds();
  }
  last_us = at_us;
  late_us[fired++] = at_us - due_us;
}

static int compare(const void *left, const void *right) {
  long a = *(const long *)left, b = *(const long *)right;
  return a < b ? -1 : a > b;
}

static void print_percentiles(long *times_us) {
  qsort(times_us, (size_t)fired, sizeof *times_us, compare);
  printf(" %.3f %.3f %.3f", (double)times_us[fired / 2] / 1e3, (double)times_us[fired * 99 / 100] / 1e3,
         (double)times_us[fired * 999 / 1000] / 1e3);
}

static void print_figures(void) {
  double took = (double)(last_us - first_us) / 1e6, share = 100 * (cpu_seconds() - cpu_at_first) / took;
  printf("%.0f", (double)fired / took);
  print_percentiles(late_us);
  printf(" %.0f", share);
  if (decided_late_us[0] >= 0) print_percentiles(decided_late_us);
  putchar('\n');
}

// --- timerd

static long arrived_us;

static void show(struct stream *stream, const struct event *event) {
  (void)stream;
  long decided_us = event_decided_us(event), due_us = event_due_us(event);
  decided_late_us[fired] = decided_us - due_us;
  arrived(due_us, arrived_us);
}

static void read_timerd(int port) {
  struct stream stream;
  stream_open(&stream, port, 0, "/v1/events?types=fired", NDJSON, 0);
  struct pollfd ready = {.fd = stream.fd, .events = POLLIN};
  while (fired < wanted) {
    if (poll(&ready, 1, PATIENCE_MS) <= 0) give_up("nothing came");
    arrived_us = wall_us();
    if (!stream_read(&stream, show)) give_up("the stream ended");
  }
}

// --- Redis and beanstalkd

// Replies are read through one buffer.
static FILE *replies;
static char line[256], payload[PAYLOAD + 3];

static const char *read_line(void) {
  if (!fgets(line, sizeof line, replies)) give_up("the server went away");
  return line;
}

static long read_payload(void) {
  if (fread(payload, 1, PAYLOAD + 2, replies) != PAYLOAD + 2) give_up("the server went away");
  return atol(payload);
}

// The first is due at `begin_us`, the last `spread_us` later, in no order.
static void make(const struct protocol *protocol, int fd, long begin_us, long spread_us) {
  static char out[MADE_AT_ONCE * REQUEST_SIZE];
  long serial = wall_us();
  for (long made = 0, due = 0; made < wanted;) {
    long until = made + MADE_AT_ONCE < wanted ? made + MADE_AT_ONCE : wanted;
    char *at = out;
    for (; due < until; due++)
      at += protocol->ask(at, serial + due, begin_us + due * 7919 % wanted * spread_us / wanted);
    send_all(fd, out, (size_t)(at - out));
    for (; made < until; made++) {
      const char *reply = read_line();
      if (!protocol->answered(reply, strlen(reply))) give_up("not made: %s", reply);
    }
  }
  if (wall_us() > begin_us) give_up("the timers were due before all were made");
}

static void read_beanstalkd(int fd) {
  static char out[RESERVED * 64];
  long ids[RESERVED];
  while (fired < wanted) {
    int count = wanted - fired < RESERVED ? (int)(wanted - fired) : RESERVED;
    char *at = out;
    for (int i = 0; i < count; i++) at = stpcpy(at, "reserve\r\n");
    send_all(fd, out, (size_t)(at - out));
    for (int i = 0; i < count; i++) {
      int size;
      if (sscanf(read_line(), "RESERVED %ld %d", &ids[i], &size) != 2 || size != PAYLOAD) give_up("no job: %s", line);
      long due_us = read_payload();
      arrived(due_us, wall_us());
    }
    at = out;
    for (int i = 0; i < count; i++) at += sprintf(at, "delete %ld\r\n", ids[i]);
    send_all(fd, out, (size_t)(at - out));
    for (int i = 0; i < count; i++)
      if (strcmp(read_line(), "DELETED\r\n")) give_up("not deleted: %s", line);
  }
}

static void read_redis(int fd) {
  static const char script[] =
      "local ids = redis.call('ZRANGEBYSCORE', KEYS[1], 0, ARGV[1], 'LIMIT', 0, ARGV[2]) local payloads = {}"
      " for i, id in ipairs(ids) do payloads[i] = redis.call('HGET', id, 'payload') redis.call('DEL', id) end"
      " if #ids > 0 then redis.call('ZREM', KEYS[1], unpack(ids)) end return payloads";
  char out[1024];
  while (fired < wanted) {
    int size = sprintf(out, "*6\r\n$4\r\nEVAL\r\n$%zu\r\n%s\r\n$1\r\n1\r\n$3\r\ndue\r\n$16\r\n%016ld\r\n$4\r\n%d\r\n",
                       strlen(script), script, wall_us(), POLLED);
    send_all(fd, out, (size_t)size);
    if (*read_line() != '*') give_up("the script failed: %s", line);
    long count = atol(line + 1);
    for (long i = 0; i < count; i++) {
      if (atol(read_line() + 1) != PAYLOAD) give_up("no payload: %s", line);
      long due_us = read_payload();
      arrived(due_us, wall_us());
    }
    if (count < POLLED) usleep(POLL_US);
  }
}

static void measure_peer(const char *name, int port) {
  const struct protocol *protocol = protocol_named(name);
  int is_redis = !strcmp(name, "redis");
  int fd = protocol_dial(protocol, port);
  if (!(replies = fdopen(fd, "r"))) give_up("fdopen: %m");
  setvbuf(replies, NULL, _IOFBF, 1 << 20);
  // beanstalkd spreads them by itself: it counts whole seconds from when it got a job.
  make(protocol, fd, wall_us() + 1500000 + wanted * MAKING_US, is_redis ? 1000000 : 0);
  (is_redis ? read_redis : read_beanstalkd)(fd);
}

// --- timerfd

static void measure_timerfd(long spread_s) {
  int timer = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC), epoll = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN};
  if (timer < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, timer, &event)) give_up("timerfd: %m");
  long begin_us = wall_us() + 1000;
  while (fired < wanted) {
    long due_us = begin_us + fired * spread_s * 1000000 / wanted;
    struct itimerspec when = {.it_value = {due_us / 1000000, due_us % 1000000 * 1000}};
    unsigned long expirations;
    if (timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL)) give_up("timerfd: %m");
    if (epoll_wait(epoll, &event, 1, PATIENCE_MS) != 1) give_up("the timerfd stands still");
    arrived(due_us, wall_us());
    if (read(timer, &expirations, sizeof expirations) < 0) give_up("timerfd: %m");
  }
}

int main(int argc, char **argv) {
  if (argc < 4) give_up("fires timerd PORT COUNT | redis|beanstalkd PORT COUNT | timerfd COUNT SECONDS");
  int is_raw = !strcmp(argv[1], "timerfd");
  wanted = atol(argv[is_raw ? 2 : 3]);
  late_us = calloc((size_t)wanted + 1, sizeof *late_us);
  decided_late_us = calloc((size_t)wanted + 1, sizeof *decided_late_us);
  if (wanted < 1 || !late_us || !decided_late_us) give_up("that many can't be measured");
  decided_late_us[0] = -1;
  if (is_raw) {
    measure_timerfd(atol(argv[3]));
  } else if (!strcmp(argv[1], "timerd")) {
    read_timerd(atoi(argv[2]));
  } else {
    measure_peer(argv[1], atoi(argv[2]));
  }
  print_figures();
}

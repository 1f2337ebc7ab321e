// Clients for timerd and its peers: each connection has one request outstanding at most, and every answer is checked.
//
//   load for SECONDS SERVER PORT CONNECTIONS BATCH [COMMAND…]
//       a closed loop: creates timers for so long, BATCH a request; or sends the commands in turn to timers dog-0, dog-1,
//       …, of which each connection has TIMERS_A_CONNECTION for itself; "get" is a GET, and so is a path
//   load make COUNT SERVER PORT CONNECTIONS BATCH
//       a closed loop that creates so many timers
//   load at RATE SECONDS SERVER PORT CONNECTIONS [COMMAND…]
//       an open loop: RATE requests a second for so long, whether answers come or not. A request that finds no free
//       connection waits for one, and its latency counts from the instant at which it was to be sent
//
// SERVER is timerd, timerd-brief (timers that are gone after a second), redis, beanstalkd or postgres. Prints timers or
// requests a second, and how much of a core this process took in percent; of an open loop also p50, p99, p99.9 and the
// longest of its latencies in milliseconds.
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>

#include "protocol.h"

enum { MAX_CONNECTIONS = 1024, TIMERS_A_CONNECTION = 100, PATIENCE_MS = 20000 };
// The largest page that a GET may bring.
enum { DUE_AFTER_S = 30 * 86400, PAGE_SIZE = 1 << 20 };

struct connection {
  int fd;
  // Requests sent.
  long sent;
  // The instant at which the outstanding request was to be sent; 0 where its latency is not measured.
  double planned;
  // What of the request is still to be sent, and what of the reply has come.
  char *out, *in;
  size_t out_at, out_size, in_size;
};

static struct connection connections[MAX_CONNECTIONS];
static const struct protocol *protocol;
static char **commands;
static int command_count;
static long serial, to_send, outstanding, answered;
static int is_over;
static size_t in_capacity;

// An open loop: its requests a second, 0 for a closed one; how many it makes, and how many it has begun; the instant of the
// first; their latencies; and the connections that are free, those that were free first in front.
static double rate, start;
static long planned, begun, measured;
static double *latencies_ms;
static struct connection *idle[MAX_CONNECTIONS];
static int first_idle, idle_count;

static double seconds(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void flush(struct connection *connection) {
  while (connection->out_at < connection->out_size) {
    ssize_t sent = send(connection->fd, connection->out + connection->out_at,
                        connection->out_size - connection->out_at, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EAGAIN) return;
    if (sent < 0) give_up("send: %m");
    connection->out_at += (size_t)sent;
  }
}

// Whether the connection goes on: once time is over, only to the last of the commands, so that the next run finds the
// timers as this one did.
static int goes_on(const struct connection *connection) {
  if (command_count) return !is_over || connection->sent % command_count;
  return !is_over && to_send > 0;
}

static void ask(struct connection *connection) {
  if (!goes_on(connection)) return;
  if (command_count) {
    long turn = connection->sent / command_count % TIMERS_A_CONNECTION;
    connection->out_size = ask_command(connection->out, commands[connection->sent % command_count],
                                       (connection - connections) * TIMERS_A_CONNECTION + turn);
  } else {
    connection->out_size = protocol->ask(connection->out, serial, wall_us() + DUE_AFTER_S * 1000000L);
    serial += batch;
    to_send -= batch;
  }
  connection->out_at = 0;
  connection->sent++;
  outstanding++;
  flush(connection);
}

// The instant at which the next request of an open loop is to be sent.
static double next_instant(void) { return start + (double)begun / rate; }

static void rest(struct connection *connection) {
  if (connection->planned > 0) latencies_ms[measured++] = (seconds(CLOCK_MONOTONIC) - connection->planned) * 1e3;
  connection->planned = 0;
  idle[(first_idle + idle_count++) % MAX_CONNECTIONS] = connection;
}

// Sends what is to be sent by now over connections that are free; at the end, the last of the commands.
static void ask_planned(void) {
  is_over = begun == planned;
  for (int turn = idle_count; turn > 0 && (is_over || next_instant() <= seconds(CLOCK_MONOTONIC)); turn--) {
    struct connection *connection = idle[first_idle];
    first_idle = (first_idle + 1) % MAX_CONNECTIONS;
    idle_count--;
    if (is_over && !goes_on(connection)) continue;
    if (!is_over) {
      connection->planned = next_instant();
      begun++;
    }
    ask(connection);
    is_over = begun == planned;
  }
}

static void read_reply(struct connection *connection) {
  char *fresh = connection->in + connection->in_size;
  ssize_t got = recv(connection->fd, fresh, in_capacity - connection->in_size, MSG_DONTWAIT);
  if (got < 0 && errno == EAGAIN) return;
  if (got <= 0) give_up("a connection ended: %m");
  connection->in_size += (size_t)got;
  size_t size = protocol->answered(connection->in, connection->in_size);
  if (!size && connection->in_size == in_capacity) give_up("a reply is too large");
  // What comes after a read makes the connection ready anew.
  if (!size) return;
  // One request, one reply: nothing may follow it.
  if (size != connection->in_size)
    give_up("more than a reply: %.*s", (int)(connection->in_size - size), connection->in + size);
  connection->in_size = 0;
  outstanding--;
  answered += batch;
  rate > 0 ? rest(connection) : ask(connection);
}

static void open_connections(int count, int port, int epoll) {
  in_capacity = command_count ? PAGE_SIZE : HEAD_SIZE + (size_t)batch * REPLY_SIZE;
  for (int i = 0; i < count; i++) {
    struct connection *connection = &connections[i];
    connection->fd = protocol_dial(protocol, port);
    connection->out = malloc(HEAD_SIZE + (size_t)batch * REQUEST_SIZE);
    connection->in = malloc(in_capacity);
    if (!connection->out || !connection->in) give_up("out of memory");
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = connection};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, connection->fd, &event)) give_up("epoll: %m");
  }
}

// How long to wait for an answer: in an open loop with a free connection, to the next request.
static struct timespec patience(void) {
  double wait = PATIENCE_MS / 1e3;
  if (rate > 0 && idle_count && begun < planned) {
    double until = next_instant() - seconds(CLOCK_MONOTONIC);
    wait = until > 0 ? until : 0;
  }
  return (struct timespec){(time_t)wait, (long)((wait - (double)(time_t)wait) * 1e9)};
}

static int compare(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return a < b ? -1 : a > b;
}

static void print_latencies(void) {
  qsort(latencies_ms, (size_t)measured, sizeof *latencies_ms, compare);
  printf(" %.3f %.3f %.3f %.3f", latencies_ms[measured / 2], latencies_ms[measured * 99 / 100],
         latencies_ms[measured * 999 / 1000], latencies_ms[measured - 1]);
}

int main(int argc, char **argv) {
  int is_open = argc > 1 && !strcmp(argv[1], "at"), is_timed = is_open || (argc > 1 && !strcmp(argv[1], "for"));
  if (argc < 7) give_up("load for SECONDS|make COUNT|at RATE SECONDS SERVER PORT CONNECTIONS [BATCH] [COMMAND…]");
  double limit = atof(argv[is_open ? 3 : 2]);
  // An open loop has a word more in front, and none for the size of a batch.
  int place = is_open ? 4 : 3, count = atoi(argv[place + 2]), epoll = epoll_create1(EPOLL_CLOEXEC);
  batch = is_open ? 1 : atoi(argv[6]);
  protocol = protocol_named(argv[place]);
  commands = argv + 7;
  command_count = argc - 7;
  if (count < 1 || count > MAX_CONNECTIONS || batch < 1 || batch > MAX_BATCH || (command_count && batch > 1))
    give_up("too many, or too few");
  // Ids that no run before this one gave.
  serial = wall_us();
  to_send = is_timed ? 1L << 62 : (long)limit;
  open_connections(count, atoi(argv[place + 1]), epoll);
  if (is_open) {
    rate = atof(argv[2]);
    planned = (long)(rate * limit);
    if (planned < 1 || !(latencies_ms = malloc((size_t)planned * sizeof *latencies_ms))) give_up("no such rate");
    // The kernel may end a wait 50 microseconds late otherwise.
    prctl(PR_SET_TIMERSLACK, 1);
  }
  start = seconds(CLOCK_MONOTONIC);
  double end = start + (is_timed ? limit : 1e9), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
  for (int i = 0; i < count; i++) is_open ? rest(&connections[i]) : ask(&connections[i]);
  while (outstanding || begun < planned) {
    struct epoll_event events[256];
    struct timespec wait = patience();
    int ready = epoll_pwait2(epoll, events, 256, &wait, NULL);
    if (ready < 0 || (!ready && wait.tv_sec >= PATIENCE_MS / 1000)) give_up("the server stands still");
    for (int i = 0; i < ready; i++) {
      flush(events[i].data.ptr);
      read_reply(events[i].data.ptr);
    }
    if (is_open) {
      ask_planned();
    } else {
      is_over = seconds(CLOCK_MONOTONIC) >= end;
    }
  }
  // To the last answer, so that what was queued counts where it took time.
  double took = seconds(CLOCK_MONOTONIC) - start;
  cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
  printf("%.1f %.0f", (double)answered / took, 100 * cpu / took);
  if (is_open) print_latencies();
  putchar('\n');
}

// A closed loop of clients for timerd and its peers: each connection has one request outstanding, and every answer is
// checked.
//
//   load for SECONDS SERVER PORT CONNECTIONS BATCH [COMMAND…]
//       creates timers for so long, BATCH a request; or sends the commands in turn to timers dog-0, dog-1, …, of which
//       each connection has TIMERS_A_CONNECTION for itself; "get" is a GET, and so is a path
//   load make COUNT SERVER PORT CONNECTIONS BATCH
//       creates so many timers
//
// SERVER is timerd, timerd-brief (timers that are gone after a second), redis, beanstalkd or postgres. Prints timers or
// requests a second, and how much of a core this process took in percent.
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
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
  ask(connection);
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

int main(int argc, char **argv) {
  if (argc < 7) give_up("load for SECONDS|make COUNT SERVER PORT CONNECTIONS BATCH [COMMAND…]");
  int is_timed = !strcmp(argv[1], "for"), count = atoi(argv[5]), epoll = epoll_create1(EPOLL_CLOEXEC);
  batch = atoi(argv[6]);
  protocol = protocol_named(argv[3]);
  commands = argv + 7;
  command_count = argc - 7;
  if (count < 1 || count > MAX_CONNECTIONS || batch < 1 || batch > MAX_BATCH || (command_count && batch > 1))
    give_up("too many, or too few");
  // Ids that no run before this one gave.
  serial = wall_us();
  to_send = is_timed ? 1L << 62 : atol(argv[2]);
  open_connections(count, atoi(argv[4]), epoll);
  double start = seconds(CLOCK_MONOTONIC), end = start + (is_timed ? atof(argv[2]) : 1e9);
  double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
  for (int i = 0; i < count; i++) ask(&connections[i]);
  while (outstanding) {
    struct epoll_event events[256];
    int ready = epoll_wait(epoll, events, 256, PATIENCE_MS);
    if (ready <= 0) give_up("the server stands still");
    for (int i = 0; i < ready; i++) {
      flush(events[i].data.ptr);
      read_reply(events[i].data.ptr);
    }
    is_over = seconds(CLOCK_MONOTONIC) >= end;
  }
  // To the last answer, so that what was queued counts where it took time.
  double took = seconds(CLOCK_MONOTONIC) - start;
  cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
  printf("%.1f %.0f\n", (double)answered / took, 100 * cpu / took);
}

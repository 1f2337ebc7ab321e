// Opens many idle event streams, then measures how long one event takes to reach them all.
//
//   streams PORT COUNT
//
// Prints "open" when every stream's head has come, reads a line from stdin, creates one timer, and prints the p50 and
// p99 of the time from sending the create to the event's arrival on a stream, in milliseconds. Source addresses change
// every 4000 streams, since the server bounds the connections of one address.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { STREAMS_AN_ADDRESS = 4000 };

static int port;

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int dial(int host) {
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK + (unsigned)host)};
  struct sockaddr_in there = {
      .sin_family = AF_INET, .sin_port = htons((unsigned short)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (fd < 0 || bind(fd, (struct sockaddr *)&here, sizeof here)) fail("bind");
  if (connect(fd, (struct sockaddr *)&there, sizeof there)) fail("connect");
  return fd;
}

static void write_text(int fd, const char *text) {
  if (send(fd, text, strlen(text), MSG_NOSIGNAL) != (ssize_t)strlen(text)) fail("send");
}

static int compare(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return a < b ? -1 : a > b;
}

int main(int argc, char **argv) {
  static const char get[] = "GET /v1/events?types=created HTTP/1.1\r\nHost: localhost\r\n\r\n";
  static const char post[] =
      "POST /v1/timers HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 14\r\n\r\n"
      "{\"after\":\"1h\"}";
  char bytes[65536];
  if (argc != 3) return 64;
  port = atoi(argv[1]);
  int count = atoi(argv[2]);
  int *fds = calloc((size_t)count, sizeof *fds);
  double *times = calloc((size_t)count, sizeof *times);
  int epoll = epoll_create1(0);
  for (int i = 0; i < count; i++) {
    fds[i] = dial(1 + i / STREAMS_AN_ADDRESS);
    write_text(fds[i], get);
    ssize_t size = recv(fds[i], bytes, sizeof bytes - 1, 0);
    bytes[size > 0 ? size : 0] = 0;
    if (size <= 0 || !strstr(bytes, " 200 ")) fail("a stream was refused");
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = (unsigned)i};
    epoll_ctl(epoll, EPOLL_CTL_ADD, fds[i], &event);
  }
  printf("open\n");
  fflush(stdout);
  if (!fgets(bytes, sizeof bytes, stdin)) return 0;
  int creator = dial(0), arrived = 0;
  double start = now();
  write_text(creator, post);
  while (arrived < count) {
    struct epoll_event events[512];
    int ready = epoll_wait(epoll, events, 512, 10000);
    if (ready <= 0) fail("an event did not arrive");
    for (int i = 0; i < ready; i++) {
      unsigned index = events[i].data.u32;
      ssize_t size = recv(fds[index], bytes, sizeof bytes, 0);
      if (size <= 0) fail("a stream ended");
      // A heartbeat is an empty line; an event has its type in it.
      if (times[index] != 0 || !memmem(bytes, (size_t)size, "created", 7)) continue;
      times[index] = now() - start;
      arrived++;
    }
  }
  qsort(times, (size_t)count, sizeof *times, compare);
  printf("%.1f %.1f\n", times[count / 2] * 1e3, times[count * 99 / 100] * 1e3);
}

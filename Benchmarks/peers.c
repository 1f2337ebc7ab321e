// A load client for Redis and beanstalkd: the same payload as timerd gets.
//
//   peers redis|beanstalkd PORT CONNECTIONS DEPTH COUNT
//
// DEPTH requests are outstanding on each connection. A Redis request is MULTI, HSET, ZADD, EXEC: the timer and its due
// instant in one step. Prints requests a second.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum { PAYLOAD = 256, MAX_CONNECTIONS = 1024, REQUEST = 1024 };

struct connection {
  int fd;
  int outstanding;
  int lines;
};

static char payload[PAYLOAD + 1];
static int is_redis, depth, lines_a_reply;
static long sent, received, count;

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static size_t make_request(char *out, long serial) {
  char key[64];
  if (!is_redis) return (size_t)sprintf(out, "put 1024 3600 60 %d\r\n%s\r\n", PAYLOAD, payload);
  int key_count = sprintf(key, "timer:%036ld", serial);
  return (size_t)sprintf(out,
                         "*1\r\n$5\r\nMULTI\r\n"
                         "*6\r\n$4\r\nHSET\r\n$%d\r\n%s\r\n$5\r\nstate\r\n$7\r\nrunning\r\n$7\r\npayload\r\n$%d\r\n%s\r\n"
                         "*4\r\n$4\r\nZADD\r\n$3\r\ndue\r\n$13\r\n%013ld\r\n$%d\r\n%s\r\n"
                         "*1\r\n$4\r\nEXEC\r\n",
                         key_count, key, PAYLOAD, payload, 1900000000000 + serial, key_count, key);
}

static void fill(struct connection *connection) {
  static char bytes[256 * REQUEST];
  size_t size = 0;
  while (connection->outstanding < depth && sent < count) {
    size += make_request(bytes + size, sent++);
    connection->outstanding++;
  }
  for (size_t done = 0; done < size;) {
    ssize_t written = send(connection->fd, bytes + done, size - done, MSG_NOSIGNAL);
    if (written < 0) fail("send");
    done += (size_t)written;
  }
}

static void drain(struct connection *connection) {
  static char bytes[65536];
  ssize_t size = recv(connection->fd, bytes, sizeof bytes, 0);
  if (size <= 0) fail("recv");
  for (ssize_t i = 0; i < size; i++) {
    // -ERR of Redis, OUT_OF_MEMORY of beanstalkd.
    if (bytes[i] == '-' || (bytes[i] == 'O' && i + 1 < size && bytes[i + 1] == 'U')) fail("the server refused");
    if (bytes[i] != '\n' || ++connection->lines < lines_a_reply) continue;
    connection->lines = 0;
    connection->outstanding--;
    received++;
  }
  if (connection->outstanding <= depth / 2) fill(connection);
}

int main(int argc, char **argv) {
  static struct connection connections[MAX_CONNECTIONS];
  if (argc != 6) return 64;
  is_redis = !strcmp(argv[1], "redis");
  int connection_count = atoi(argv[3]);
  depth = atoi(argv[4]);
  count = atol(argv[5]);
  lines_a_reply = is_redis ? 6 : 1;
  if (connection_count > MAX_CONNECTIONS || depth > 256) return 64;
  memset(payload, 'x', PAYLOAD);
  int epoll = epoll_create1(0);
  for (int i = 0; i < connection_count; i++) {
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((unsigned short)atoi(argv[2])),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&address, sizeof address)) fail("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    connections[i].fd = fd;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &connections[i]};
    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
  }
  double start = now();
  for (int i = 0; i < connection_count; i++) fill(&connections[i]);
  while (received < count) {
    struct epoll_event events[256];
    int ready = epoll_wait(epoll, events, 256, 10000);
    if (ready <= 0) fail("the server stands still");
    for (int i = 0; i < ready; i++) drain(events[i].data.ptr);
  }
  printf("%.0f\n", (double)count / (now() - start));
}

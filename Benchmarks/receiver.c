// A receiver of webhooks that is faster than any sender: answers 200 and measures.
//
//   receiver PORT COUNT [HANG_EVERY]
//
// Listens on PORT of every address of 127.0.0.0/8, which stand for hosts: host n is 127.1.(n / 250).(n % 250 + 1). With
// HANG_EVERY each so manieth host (9, 19, … for 10) reads its requests and never answers. Once COUNT requests were
// answered it prints how many a second that were, from the first one's first byte to the last one's, and p50 and p99 in
// milliseconds of the time from fire to first byte: from the event's scheduledAt + latenessUs, which is when the timer
// fired, to when this process had the first byte, both on the machine's wall clock.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BUFFER = 32 * 1024, HOSTS_A_BLOCK = 250 };

struct connection {
  int fd;
  int hangs;
  size_t filled;
  long first_byte_us;
  char bytes[BUFFER + 1];
};

static long count, answered, first_us, last_us;
static long *times_us;
static int hang_every;

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static void give_up(const char *why) {
  fprintf(stderr, "receiver: %s\n", why);
  exit(1);
}

static long now_us(void) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return time.tv_sec * 1000000L + time.tv_nsec / 1000;
}

// The microseconds since 1970 at which the event fired; -1 where the body says nothing of it.
static long fired_us(const char *body) {
  const char *scheduled = strstr(body, "\"scheduledAt\":\""), *lateness = strstr(body, "\"latenessUs\":");
  struct tm date = {0};
  int milliseconds;
  if (!scheduled || !lateness ||
      sscanf(scheduled + 15, "%d-%d-%dT%d:%d:%d.%3dZ", &date.tm_year, &date.tm_mon, &date.tm_mday, &date.tm_hour,
             &date.tm_min, &date.tm_sec, &milliseconds) != 7)
    return -1;
  date.tm_year -= 1900;
  date.tm_mon -= 1;
  return timegm(&date) * 1000000L + milliseconds * 1000L + atol(lateness + 13);
}

static int compare(const void *left, const void *right) {
  long a = *(const long *)left, b = *(const long *)right;
  return a < b ? -1 : a > b;
}

static void report(void) {
  qsort(times_us, (size_t)count, sizeof *times_us, compare);
  double seconds = (double)(last_us - first_us) / 1e6;
  printf("%.0f %.2f %.2f\n", seconds > 0 ? (double)(count - 1) / seconds : 0, (double)times_us[count / 2] / 1e3,
         (double)times_us[count * 99 / 100] / 1e3);
  exit(0);
}

static void answer(struct connection *connection, const char *body) {
  static const char text[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
  long fired = fired_us(body);
  if (fired < 0) give_up("a request without an event");
  times_us[answered] = connection->first_byte_us - fired;
  if (answered == 0 || connection->first_byte_us < first_us) first_us = connection->first_byte_us;
  if (connection->first_byte_us > last_us) last_us = connection->first_byte_us;
  send(connection->fd, text, sizeof text - 1, MSG_NOSIGNAL);
  if (++answered == count) report();
}

// Answers each whole request in the buffer.
static void take(struct connection *connection) {
  for (;;) {
    connection->bytes[connection->filled] = 0;
    char *end = strstr(connection->bytes, "\r\n\r\n");
    if (!end) break;
    const char *length = strcasestr(connection->bytes, "\r\ncontent-length:");
    size_t size = (size_t)(end + 4 - connection->bytes);
    if (length && length < end) size += strtoul(length + 17, NULL, 10);
    if (size > BUFFER) give_up("a request is too large");
    if (connection->filled < size) break;
    char after = connection->bytes[size];
    connection->bytes[size] = 0;
    if (!connection->hangs) answer(connection, end + 4);
    connection->bytes[size] = after;
    connection->filled -= size;
    memmove(connection->bytes, connection->bytes + size, connection->filled);
  }
}

static void end(struct connection *connection) {
  close(connection->fd);
  free(connection);
}

static void read_some(struct connection *connection) {
  ssize_t size = recv(connection->fd, connection->bytes + connection->filled, BUFFER - connection->filled, 0);
  if (size < 0 && errno == EAGAIN) return;
  if (size <= 0) {
    end(connection);
    return;
  }
  if (connection->filled == 0) connection->first_byte_us = now_us();
  connection->filled += (size_t)size;
  take(connection);
  if (connection->filled == BUFFER) give_up("a head is too large");
}

static int hangs(const struct sockaddr_in *address) {
  unsigned bits = ntohl(address->sin_addr.s_addr);
  unsigned host = (bits >> 8 & 255) * HOSTS_A_BLOCK + (bits & 255) - 1;
  return hang_every > 0 && (int)(host % (unsigned)hang_every) == hang_every - 1;
}

static void take_connection(int epoll, int listener) {
  struct sockaddr_in here;
  socklen_t size = sizeof here;
  int one = 1, fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
  if (fd < 0) return;
  struct connection *connection = calloc(1, sizeof *connection);
  if (!connection || getsockname(fd, (struct sockaddr *)&here, &size)) fail("accept");
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  connection->fd = fd;
  connection->hangs = hangs(&here);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
  epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

static int listen_on(int port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
  int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  // All of 127.0.0.0/8 and nothing else.
  if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3)) fail("lo");
  if (bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, 4096)) fail("listen");
  return fd;
}

int main(int argc, char **argv) {
  if (argc < 3 || argc > 4) return 64;
  count = atol(argv[2]);
  hang_every = argc == 4 ? atoi(argv[3]) : 0;
  if (count < 1) return 64;
  times_us = calloc((size_t)count, sizeof *times_us);
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  int listener = listen_on(atoi(argv[1])), epoll = epoll_create1(0);
  struct epoll_event waiting = {.events = EPOLLIN, .data.ptr = NULL};
  epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &waiting);
  for (;;) {
    struct epoll_event events[256];
    int ready = epoll_wait(epoll, events, 256, -1);
    for (int i = 0; i < ready; i++) {
      if (events[i].data.ptr) {
        read_some(events[i].data.ptr);
      } else {
        take_connection(epoll, listener);
      }
    }
  }
}

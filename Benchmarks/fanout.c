// A bare fan-out: what the machine and the client take of the time one event needs to reach many streams.
//
//   fanout PORT NDJSON-ANSWER SSE-ANSWER
//
// The answers are files as `curl -si` prints them: a stream of timerd with one event. Every GET gets that head and
// stays open. Every POST is answered 201, and each stream is sent the event as one chunk, under an id that grows, in a
// loop that does nothing else.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MAX_ANSWER = 8192, MAX_STREAMS = 20000, ID_DIGITS = 19 };

struct answer {
  char head[MAX_ANSWER], chunk[MAX_ANSWER];
  size_t head_size, chunk_size;
};

struct reader {
  int fd;
  const struct answer *answer;
};

static struct answer ndjson, sse;
static struct reader readers[MAX_STREAMS];
static int reader_count;

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static void read_answer(const char *path, struct answer *answer) {
  static char text[MAX_ANSWER];
  FILE *file = fopen(path, "r");
  size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
  text[size] = 0;
  char *body = strstr(text, "\r\n\r\n");
  if (!body || !body[4]) fail(path);
  body += 4;
  answer->head_size = (size_t)(body - text);
  memcpy(answer->head, text, answer->head_size);
  answer->chunk_size = (size_t)snprintf(answer->chunk, MAX_ANSWER, "%zx\r\n%s\r\n", strlen(body), body);
  fclose(file);
}

// Counts the id up wherever the chunk shows it.
static void renew(struct answer *answer) {
  char *first = strstr(answer->chunk, "\"id\":\""), old[ID_DIGITS + 1] = {0}, new[24];
  if (!first) fail("an event without an id");
  memcpy(old, first + 6, ID_DIGITS);
  snprintf(new, sizeof new, "%0*ld", ID_DIGITS, atol(old) + 1);
  for (char *at = answer->chunk; (at = strstr(at, old));) memcpy(at, new, ID_DIGITS);
}

static void send_whole(int fd, const char *bytes, size_t size) {
  if (send(fd, bytes, size, MSG_NOSIGNAL) != (ssize_t)size) fail("send");
}

static void answer(int fd) {
  static const char created[] = "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n";
  char request[4096];
  ssize_t size = recv(fd, request, sizeof request - 1, 0);
  if (size <= 0) {
    close(fd);
    return;
  }
  request[size] = 0;
  if (*request == 'G') {
    if (reader_count == MAX_STREAMS) fail("too many streams");
    struct reader *reader = &readers[reader_count++];
    *reader = (struct reader){fd, strstr(request, "text/event-stream") ? &sse : &ndjson};
    send_whole(fd, reader->answer->head, reader->answer->head_size);
    return;
  }
  renew(&ndjson);
  renew(&sse);
  send_whole(fd, created, sizeof created - 1);
  for (const struct reader *reader = readers; reader < readers + reader_count; reader++)
    send_whole(reader->fd, reader->answer->chunk, reader->answer->chunk_size);
}

int main(int argc, char **argv) {
  if (argc != 4) return 64;
  read_answer(argv[2], &ndjson);
  read_answer(argv[3], &sse);
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_port = htons((unsigned short)atoi(argv[1])),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int one = 1, listener = socket(AF_INET, SOCK_STREAM, 0), epoll = epoll_create1(0);
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 4096)) fail("listen");
  struct epoll_event event = {.events = EPOLLIN, .data.fd = listener};
  epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event);
  for (;;) {
    struct epoll_event events[256];
    int ready = epoll_wait(epoll, events, 256, -1);
    for (int i = 0; i < ready; i++) {
      if (events[i].data.fd != listener) {
        answer(events[i].data.fd);
        continue;
      }
      event.data.fd = accept(listener, NULL, NULL);
      if (event.data.fd < 0) fail("accept");
      setsockopt(event.data.fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
      epoll_ctl(epoll, EPOLL_CTL_ADD, event.data.fd, &event);
    }
  }
}

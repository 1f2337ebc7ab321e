#define _GNU_SOURCE
#include "protocol.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

int batch = 1;

static char filler[PAYLOAD + 1];

__attribute__((noreturn)) static void refused(const char *bytes, size_t size) {
  give_up("the server refused: %.*s", (int)(size < 400 ? size : 400), bytes);
}

long wall_us(void) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return time.tv_sec * 1000000L + time.tv_nsec / 1000;
}

static void uuid(char out[37], long serial) {
  sprintf(out, "%08lx-%04lx-7000-8000-%012lx", serial >> 32, serial >> 16 & 0xffff, serial & 0xffffffffffff);
}

// The size of `batch` lines, each of which must start with `start`; 0 while they are not all there.
static size_t answered_lines(const char *bytes, size_t size, const char *start) {
  const char *at = bytes, *end = bytes + size, *line_end;
  for (int i = 0; i < batch; i++, at = line_end + 1) {
    if (at == end || !(line_end = memchr(at, '\n', (size_t)(end - at)))) return 0;
    if ((size_t)(line_end - at) < strlen(start) || memcmp(at, start, strlen(start))) refused(at, (size_t)(end - at));
  }
  return (size_t)(at - bytes);
}

// --- timerd, and whoever answers as it does

static void greet_nobody(int fd) { (void)fd; }

static size_t ask_scheduled(char *out, const char *schedule) {
  // The same bytes each time: the server gives the id, and thirty days are thirty days.
  static char request[HEAD_SIZE + MAX_BATCH * REQUEST_SIZE];
  static size_t request_size;
  if (!request_size) {
    char line[REQUEST_SIZE];
    int line_size = sprintf(line, "{%s,\"payload\":\"%.*s\"}\n", schedule, PAYLOAD - 2, filler);
    request_size = (size_t)sprintf(request,
                                   "POST /v1/timers%s HTTP/1.1\r\nHost: localhost\r\n"
                                   "Content-Type: application/%s\r\nContent-Length: %d\r\n\r\n",
                                   batch > 1 ? "/batch?results=brief" : "", batch > 1 ? "x-ndjson" : "json",
                                   batch * line_size);
    for (int i = 0; i < batch; i++, request_size += (size_t)line_size)
      memcpy(request + request_size, line, (size_t)line_size);
  }
  memcpy(out, request, request_size);
  return request_size;
}

static size_t ask_timerd(char *out, long serial, long due_us) {
  (void)serial, (void)due_us;
  return ask_scheduled(out, "\"after\":\"30d\"");
}

// Timers that are soon gone.
static size_t ask_brief(char *out, long serial, long due_us) {
  (void)serial, (void)due_us;
  return ask_scheduled(out, "\"after\":\"1s\",\"retain\":\"0s\"");
}

size_t ask_command(char *out, const char *command, long dog) {
  if (*command == '/') return (size_t)sprintf(out, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", command);
  if (!strcmp(command, "get"))
    return (size_t)sprintf(out, "GET /v1/timers/dog-%ld HTTP/1.1\r\nHost: localhost\r\n\r\n", dog);
  return (size_t)sprintf(out, "POST /v1/timers/dog-%ld/%s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n", dog,
                         command);
}

static size_t answered_timerd(const char *bytes, size_t size) {
  static const char name[] = "\r\nContent-Length: ";
  const char *head_end = memmem(bytes, size, "\r\n\r\n", 4);
  if (!head_end) return 0;
  const char *length = memmem(bytes, (size_t)(head_end - bytes), name, strlen(name));
  if (!length || (memcmp(bytes, "HTTP/1.1 200 ", 13) && memcmp(bytes, "HTTP/1.1 201 ", 13))) refused(bytes, size);
  const char *body = head_end + 4;
  size_t body_size = strtoul(length + strlen(name), NULL, 10);
  if ((size_t)(bytes + size - body) < body_size) return 0;
  if (batch > 1 && answered_lines(body, body_size, "{\"status\":201,") != body_size) refused(body, body_size);
  return (size_t)(body - bytes) + body_size;
}

// --- Redis: the timer and its due instant change together, in one call of a script

static char script_sha[41];

static void greet_redis(int fd) {
  static const char script[] =
      "redis.call('HSET',KEYS[1],'state','running','payload',ARGV[2])"
      " return redis.call('ZADD',KEYS[2],ARGV[1],KEYS[1])";
  char bytes[512];
  send_all(fd, bytes,
           (size_t)sprintf(bytes, "*3\r\n$6\r\nSCRIPT\r\n$4\r\nLOAD\r\n$%zu\r\n%s\r\n", strlen(script), script));
  ssize_t size = recv(fd, bytes, 47, MSG_WAITALL);
  if (size != 47 || memcmp(bytes, "$40\r\n", 5)) refused(bytes, size < 0 ? 0 : (size_t)size);
  memcpy(script_sha, bytes + 5, 40);
}

static size_t ask_redis(char *out, long serial, long due_us) {
  char *at = out, id[37];
  for (int i = 0; i < batch; i++) {
    uuid(id, serial + i);
    at += sprintf(at,
                  "*7\r\n$7\r\nEVALSHA\r\n$40\r\n%s\r\n$1\r\n2\r\n$42\r\ntimer:%s\r\n$3\r\ndue\r\n"
                  "$16\r\n%016ld\r\n$%d\r\n%016ld%s\r\n",
                  script_sha, id, due_us, PAYLOAD, due_us, filler + 16);
  }
  return (size_t)(at - out);
}

static size_t answered_redis(const char *bytes, size_t size) { return answered_lines(bytes, size, ":1\r"); }

// --- beanstalkd: it counts a delay in whole seconds, so the payload tells when the job will be due

static size_t ask_beanstalkd(char *out, long serial, long due_us) {
  char *at = out;
  (void)serial;
  for (int i = 0; i < batch; i++) {
    long now = wall_us(), delay = due_us > now ? (due_us - now + 999999) / 1000000 : 0;
    at += sprintf(at, "put 1024 %ld 600 %d\r\n%016ld%s\r\n", delay, PAYLOAD, now + delay * 1000000, filler + 16);
  }
  return (size_t)(at - out);
}

static size_t answered_beanstalkd(const char *bytes, size_t size) { return answered_lines(bytes, size, "INSERTED "); }

// --- PostgreSQL: a prepared INSERT of `batch` rows, version 3 of its protocol

// Appends an integer in the network's order.
static char *put(char *at, unsigned long value, int size) {
  while (size > 0) *at++ = (char)(value >> 8 * --size);
  return at;
}

static uint32_t get32(const char *at) {
  uint32_t value;
  memcpy(&value, at, sizeof value);
  return ntohl(value);
}

// Appends a message whose content `content` wrote behind its five first bytes.
static char *message(char *at, char type, const char *end) {
  *at = type;
  put(at + 1, (unsigned long)(end - at - 1), 4);
  return (char *)end;
}

// Appends a parameter's value.
static char *parameter(char *at, const char *text, size_t size) {
  at = put(at, size, 4);
  return mempcpy(at, text, size);
}

// The size of the messages up to the one that says that the server is ready; 0 while they are not all there. Among them
// must be `expected`.
static size_t until_ready(const char *bytes, size_t size, const char *expected) {
  int is_there = !expected;
  for (size_t at = 0; at + 5 <= size;) {
    size_t next = at + 1 + get32(bytes + at + 1);
    if (next > size) return 0;
    if (bytes[at] == 'E') refused(bytes + at, next - at);
    if (expected && bytes[at] == 'C') is_there = !strcmp(bytes + at + 5, expected);
    if (bytes[at] == 'Z') {
      if (!is_there) refused(bytes, size);
      return next;
    }
    at = next;
  }
  return 0;
}

static void await_ready(int fd) {
  char bytes[8192];
  size_t size = 0;
  while (!until_ready(bytes, size, NULL)) {
    ssize_t got = recv(fd, bytes + size, sizeof bytes - size, 0);
    if (got <= 0) give_up("PostgreSQL went away");
    size += (size_t)got;
  }
}

static void greet_postgres(int fd) {
  static const char start[] = "user\0postgres\0database\0postgres\0";
  static char bytes[HEAD_SIZE + MAX_BATCH * 32];
  char *at = put(bytes, 8 + sizeof start, 4);
  at = mempcpy(put(at, 3 << 16, 4), start, sizeof start);
  send_all(fd, bytes, (size_t)(at - bytes));
  await_ready(fd);
  at = bytes + 5 + sprintf(bytes + 5, "insert") + 1;
  at += sprintf(at, "INSERT INTO timers (id, due, payload) VALUES ");
  for (int i = 0; i < batch; i++) at += sprintf(at, "%s($%d,$%d,$%d)", i ? "," : "", 3 * i + 1, 3 * i + 2, 3 * i + 3);
  at = message(bytes, 'P', put(at + 1, 0, 2));
  at = message(at, 'S', at + 5);
  send_all(fd, bytes, (size_t)(at - bytes));
  await_ready(fd);
}

static size_t ask_postgres(char *out, long serial, long due_us) {
  char due[32], id[37];
  size_t due_size = (size_t)sprintf(due, "%ld", due_us);
  char *at = out + 5;
  *at++ = 0;
  at = put(mempcpy(at, "insert", sizeof "insert"), 0, 2);
  at = put(at, 3 * (unsigned long)batch, 2);
  for (int i = 0; i < batch; i++) {
    uuid(id, serial + i);
    at = parameter(parameter(parameter(at, id, 36), due, due_size), filler, PAYLOAD);
  }
  at = message(out, 'B', put(at, 0, 2));
  at = message(at, 'E', put(at + 5, 0, 5));
  return (size_t)(message(at, 'S', at + 5) - out);
}

static size_t answered_postgres(const char *bytes, size_t size) {
  char expected[32];
  sprintf(expected, "INSERT 0 %d", batch);
  return until_ready(bytes, size, expected);
}

// --- All of them

static const struct protocol protocols[] = {
    {"timerd", greet_nobody, ask_timerd, answered_timerd},
    {"timerd-brief", greet_nobody, ask_brief, answered_timerd},
    {"redis", greet_redis, ask_redis, answered_redis},
    {"beanstalkd", greet_nobody, ask_beanstalkd, answered_beanstalkd},
    {"postgres", greet_postgres, ask_postgres, answered_postgres},
};

const struct protocol *protocol_named(const char *name) {
  memset(filler, 'x', PAYLOAD);
  for (size_t i = 0; i < sizeof protocols / sizeof *protocols; i++)
    if (!strcmp(protocols[i].name, name)) return &protocols[i];
  give_up("nobody speaks %s", name);
}

int protocol_dial(const struct protocol *protocol, int port) {
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_port = htons((unsigned short)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address)) give_up("connect: %m");
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  protocol->greet(fd);
  return fd;
}

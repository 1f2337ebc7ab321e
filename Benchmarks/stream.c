#define _GNU_SOURCE
#include "stream.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { ID_DIGITS = 19, INSTANT = 24, MAX_REST = 128 * 1024, MAX_READ = 1024 * 1024, MAX_CHUNK = 64 * 1024 * 1024 };

// One for all streams, as they are read one after another.
static char buffer[MAX_REST + MAX_READ + 1];

static void unexpected(const struct stream *stream, const char *what, const char *bytes, size_t size) {
  give_up("%s after %ld events, the last of them %ld: %.*s", what, stream->count, stream->last_id,
          (int)(size < 400 ? size : 400), bytes);
}

int dial(int port, int host, int receive_buffer) {
  int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK + (unsigned)host)};
  struct sockaddr_in there = {
      .sin_family = AF_INET, .sin_port = htons((unsigned short)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (fd < 0) give_up("a socket: %m");
  if (receive_buffer) setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
  // Else the kernel reserves a port of the address for each socket, whoever it connects to.
  setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one);
  if (bind(fd, (struct sockaddr *)&here, sizeof here)) give_up("bind: %m");
  if (connect(fd, (struct sockaddr *)&there, sizeof there)) give_up("connect: %m");
  return fd;
}

void stream_open(struct stream *stream, int port, int host, const char *target, enum format format,
                 int receive_buffer) {
  char request[1024];
  int size = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: localhost\r\nAccept: %s\r\n\r\n", target,
                      format == SSE ? "text/event-stream" : "application/x-ndjson");
  if (size >= (int)sizeof request) give_up("the target is too long: %s", target);
  *stream = (struct stream){.fd = dial(port, host, receive_buffer), .format = format, .place = HEAD};
  send_all(stream->fd, request, (size_t)size);
}

// --- Framing

static int hex(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  digit |= 0x20;
  return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

// A byte of a chunk's size.
static int take_size(struct stream *stream, char byte) {
  int digit = hex(byte);
  if (digit < 0) {
    stream->place = CHUNK_SIZE_END;
    return byte == '\r' && stream->digits > 0;
  }
  stream->digits++;
  stream->chunk_left = stream->chunk_left * 16 + (size_t)digit;
  return stream->chunk_left <= MAX_CHUNK;
}

// A byte of the framing, outside a chunk; false if it can't stand there.
static int take_framing(struct stream *stream, char byte) {
  switch (stream->place) {
  case CHUNK_SIZE: return take_size(stream, byte);
  case CHUNK_SIZE_END: stream->place = stream->chunk_left ? CHUNK : LAST_CR; return byte == '\n';
  case CHUNK_CR: stream->place = CHUNK_LF; return byte == '\r';
  case CHUNK_LF: stream->place = CHUNK_SIZE; stream->digits = 0; return byte == '\n';
  case LAST_CR: stream->place = LAST_LF; return byte == '\r';
  case LAST_LF: stream->place = ENDED; return byte == '\n';
  default: return 0;
  }
}

// Drops the framing of `size` bytes where they are; returns how many are left.
static size_t unframe(struct stream *stream, char *bytes, size_t size) {
  size_t from = 0, to = 0;
  while (from < size) {
    if (stream->place != CHUNK) {
      if (!take_framing(stream, bytes[from])) unexpected(stream, "bad framing", bytes + from, size - from);
      from++;
      continue;
    }
    size_t count = stream->chunk_left < size - from ? stream->chunk_left : size - from;
    memmove(bytes + to, bytes + from, count);
    from += count;
    to += count;
    stream->chunk_left -= count;
    if (!stream->chunk_left) stream->place = CHUNK_CR;
  }
  return to;
}

// --- Events

// Steps over `text`, or fails.
static int skip(const char **at, const char *end, const char *text) {
  size_t size = strlen(text);
  if ((size_t)(end - *at) < size || memcmp(*at, text, size)) return 0;
  *at += size;
  return 1;
}

static int skip_id(const char **at, const char *end, long *id) {
  if (end - *at < ID_DIGITS) return 0;
  *id = 0;
  for (int i = 0; i < ID_DIGITS; i++, (*at)++) {
    if (**at < '0' || **at > '9') return 0;
    *id = *id * 10 + (**at - '0');
  }
  return 1;
}

// Steps over the text of a string that has no escapes, and its closing quote.
static int skip_text(const char **at, const char *end, size_t *size) {
  const char *quote = memchr(*at, '"', (size_t)(end - *at));
  if (!quote) return 0;
  *size = (size_t)(quote - *at);
  *at = quote + 1;
  return 1;
}

static int read_event(const char *text, const char *end, struct event *event) {
  const char *at = text;
  size_t size;
  *event = (struct event){.text = text, .size = (size_t)(end - text)};
  if (!skip(&at, end, "{\"id\":\"") || !skip_id(&at, end, &event->id) || !skip(&at, end, "\",\"type\":\"")) return 0;
  event->type = at;
  if (!skip_text(&at, end, &event->type_size) || !skip(&at, end, ",\"timer\":\"") || !skip_text(&at, end, &size) ||
      !skip(&at, end, ",\"at\":\""))
    return 0;
  event->at = at;
  return skip_text(&at, end, &size) && size == INSTANT && skip(&at, end, ",\"version\":") && end[-1] == '}';
}

static void take_event(struct stream *stream, const char *text, const char *end, struct event *event) {
  if (!read_event(text, end, event)) unexpected(stream, "no event", text, (size_t)(end - text));
  if (event->id <= stream->last_id) unexpected(stream, "an id that does not grow", text, (size_t)(end - text));
  stream->last_id = event->id;
  stream->count++;
}

// The line at `at` without its end, which is `*next` less one; null while it is not all there.
static const char *line_end(const char *at, const char *end) {
  return at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
}

// Takes what stands at `at`: an event or a heartbeat. Returns what follows, or null while it is not all there.
static const char *take_ndjson(struct stream *stream, const char *at, const char *end, struct event *event) {
  const char *line = line_end(at, end);
  if (line && line > at) take_event(stream, at, line, event);
  return line ? line + 1 : NULL;
}

static const char *take_sse(struct stream *stream, const char *at, const char *end, struct event *event) {
  const char *id_end = line_end(at, end), *type_end, *data_end, *field = at;
  long id;
  if (!id_end || id_end + 1 == end) return NULL;
  if (!skip(&field, id_end, "id: ") || !skip_id(&field, id_end, &id) || field != id_end)
    unexpected(stream, "no id", at, (size_t)(end - at));
  if (id_end[1] == '\n') return id_end + 2;
  if (!(type_end = line_end(id_end + 1, end)) || !(data_end = line_end(type_end + 1, end)) || data_end + 1 == end)
    return NULL;
  const char *data = type_end + 1;
  if (!skip(&data, data_end, "data: ") || data_end[1] != '\n') unexpected(stream, "no data", at, (size_t)(end - at));
  take_event(stream, data, data_end, event);
  field = id_end + 1;
  if (!skip(&field, type_end, "event: ") || (size_t)(type_end - field) != event->type_size ||
      memcmp(field, event->type, event->type_size) || id != event->id)
    unexpected(stream, "an event under another name", at, (size_t)(end - at));
  return data_end + 2;
}

// Shows each whole event of the body's next bytes; returns what is left.
static const char *take_body(struct stream *stream, const char *at, const char *end,
                             void (*show)(struct stream *, const struct event *)) {
  for (;;) {
    struct event event = {0};
    const char *next = (stream->format == SSE ? take_sse : take_ndjson)(stream, at, end, &event);
    if (!next) return at;
    if (event.text) show(stream, &event);
    at = next;
  }
}

// --- Reading

// Steps over a head that is all there; returns what follows it.
static char *take_head(struct stream *stream, char *bytes, size_t size) {
  bytes[size] = 0;
  char *end = strstr(bytes, "\r\n\r\n");
  if (!end) return NULL;
  const char *type =
      stream->format == SSE ? "\r\nContent-Type: text/event-stream\r\n" : "\r\nContent-Type: application/x-ndjson\r\n";
  if (strncmp(bytes, "HTTP/1.1 200 ", 13) || !memmem(bytes, (size_t)(end + 2 - bytes), type, strlen(type)) ||
      !memmem(bytes, (size_t)(end + 2 - bytes), "\r\nTransfer-Encoding: chunked\r\n", 30))
    unexpected(stream, "refused", bytes, size);
  stream->place = CHUNK_SIZE;
  return end + 4;
}

static void keep(struct stream *stream, const char *bytes, size_t size) {
  if (size > MAX_REST) unexpected(stream, "an event that is too large", bytes, size);
  if (size != stream->rest_size && !(stream->rest = realloc(stream->rest, size ? size : 1))) give_up("out of memory");
  memcpy(stream->rest, bytes, size);
  stream->rest_size = size;
}

int stream_read(struct stream *stream, void (*show)(struct stream *, const struct event *)) {
  char *fresh = buffer + stream->rest_size;
  if (stream->rest_size) memcpy(buffer, stream->rest, stream->rest_size);
  ssize_t got = recv(stream->fd, fresh, MAX_READ, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return 1;
  if (got < 0) give_up("a stream broke off after %ld events: %m", stream->count);
  if (got == 0) {
    if (stream->place != ENDED || stream->rest_size) unexpected(stream, "cut off", buffer, stream->rest_size);
    close(stream->fd);
    stream->fd = -1;
    return 0;
  }
  char *body = buffer, *end = fresh + got;
  if (stream->place == HEAD) {
    fresh = take_head(stream, buffer, (size_t)(end - buffer));
    if (!fresh) {
      keep(stream, buffer, (size_t)(end - buffer));
      return 1;
    }
    body = fresh;
  }
  end = fresh + unframe(stream, fresh, (size_t)(end - fresh));
  const char *rest = take_body(stream, body, end, show);
  keep(stream, rest, (size_t)(end - rest));
  return 1;
}

int event_is(const struct event *event, const char *type) {
  return event->type_size == strlen(type) && !memcmp(event->type, type, event->type_size);
}

// --- Fires

// What follows `name` in an event; its labels and payload are those of timers made for this.
static const char *member(const struct event *event, const char *name) {
  const char *found = memmem(event->text, event->size, name, strlen(name));
  if (!found) give_up("no %s in %.*s", name, (int)event->size, event->text);
  return found + strlen(name);
}

// Microseconds since 1970 of an instant as the server writes it.
static long instant_us(const char *text) {
  // The minute last asked for: next to all are in it.
  static char minute[17];
  static long minute_us;
  if (memcmp(text, minute, sizeof minute)) {
    struct tm date = {0};
    if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:", &date.tm_year, &date.tm_mon, &date.tm_mday, &date.tm_hour,
               &date.tm_min) != 5)
      give_up("no instant: %.24s", text);
    date.tm_year -= 1900;
    date.tm_mon -= 1;
    minute_us = timegm(&date) * 1000000L;
    memcpy(minute, text, sizeof minute);
  }
  return minute_us + (text[17] - '0') * 10000000L + (text[18] - '0') * 1000000L + atol(text + 20) * 1000L;
}

long event_fire(const struct event *event) { return atol(member(event, "\"fire\":")); }

long event_due_us(const struct event *event) { return instant_us(member(event, "\"scheduledAt\":\"")); }

long event_decided_us(const struct event *event) {
  return event_due_us(event) + atol(member(event, "\"latenessUs\":"));
}

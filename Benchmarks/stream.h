// An event stream as a client sees it: opened, read, and checked to the byte; what should not come ends the process.
#ifndef STREAM_H
#define STREAM_H

#include <stddef.h>

#include "give_up.h"

enum format { NDJSON, SSE };

// Where in its answer a stream is.
enum place { HEAD, CHUNK_SIZE, CHUNK_SIZE_END, CHUNK, CHUNK_CR, CHUNK_LF, LAST_CR, LAST_LF, ENDED };

struct stream {
  int fd;
  enum format format;
  enum place place;
  // Of the chunk under way: bytes to come, and digits of its size so far.
  size_t chunk_left;
  int digits;
  // What came of the next event, or of the head.
  char *rest;
  size_t rest_size;
  // The newest id, and how many events came.
  long last_id, count;
  // Whoever opened it uses these as it likes.
  long tally, time_us;
};

// An event, whose text is valid during the call that shows it.
struct event {
  long id;
  const char *type, *at, *text;
  size_t type_size, size;
};

// A connection to `port` of this machine from 127.0.0.(1 + host).
int dial(int port, int host, int receive_buffer);

// Opens `stream` at `port` and asks for `target`; the head comes with the first `stream_read`. With `receive_buffer`
// the kernel holds about so many unread bytes for it.
void stream_open(struct stream *stream, int port, int host, const char *target, enum format format, int receive_buffer);

// Reads what has come, once, and shows each event in turn. False once the answer has ended as it should.
int stream_read(struct stream *stream, void (*show)(struct stream *, const struct event *));

int event_is(const struct event *event, const char *type);

// Of a `fired` event: its number among the fires of its timer, and when it was due and decided to fire, in microseconds
// since 1970.
long event_fire(const struct event *event);
long event_due_us(const struct event *event);
long event_decided_us(const struct event *event);

#endif

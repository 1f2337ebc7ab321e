// How timerd and its peers are asked for timers, and what they answer: each with the same data, an id, a due instant
// and a payload of 256 bytes.
#ifndef PROTOCOL_H
#define PROTOCOL_H

#include <stddef.h>

#include "give_up.h"

// What a request and a reply take at most, for each timer of a batch and beside them.
enum { PAYLOAD = 256, REQUEST_SIZE = 640, REPLY_SIZE = 640, HEAD_SIZE = 8192, MAX_BATCH = 1000 };

struct protocol {
  const char *name;
  // Makes ready a connection that is open; returns when it may be used.
  void (*greet)(int fd);
  // Writes a request for `batch` timers of which the first has the number `serial`; returns its size.
  size_t (*ask)(char *out, long serial, long due_us);
  // The size of the whole reply at the front of `bytes`, 0 while not all of it is there. A refusal ends the process.
  size_t (*answered)(const char *bytes, size_t size);
};

// Timers a request, 1 to MAX_BATCH.
extern int batch;

// The protocol of that name; ends the process where there is none.
const struct protocol *protocol_named(const char *name);

// A POST of a command, or a GET with "get", of the timer dog-N; or a GET of a path.
size_t ask_command(char *out, const char *command, long dog);

// A blocking connection to `port` of this machine, greeted.
int protocol_dial(const struct protocol *protocol, int port);

// Microseconds since 1970.
long wall_us(void);

#endif

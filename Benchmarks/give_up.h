#ifndef GIVE_UP_H
#define GIVE_UP_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

// Says why, as printf does, and ends the process.
__attribute__((format(printf, 1, 2), noreturn, unused)) static void give_up(const char *why, ...) {
  va_list arguments;
  va_start(arguments, why);
  fputs("bench: ", stderr);
  vfprintf(stderr, why, arguments);
  fputc('\n', stderr);
  exit(1);
}

// Sends everything on a socket that blocks.
__attribute__((unused)) static void send_all(int fd, const char *bytes, size_t size) {
  while (size > 0) {
    ssize_t sent = send(fd, bytes, size, MSG_NOSIGNAL);
    if (sent < 0) give_up("send: %m");
    bytes += sent;
    size -= (size_t)sent;
  }
}

#endif

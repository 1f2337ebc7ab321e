#ifndef GIVE_UP_H
#define GIVE_UP_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

// Says why, as printf does, and ends the process.
__attribute__((format(printf, 1, 2), noreturn, unused)) static void give_up(const char *why, ...) {
  va_list arguments;
  va_start(arguments, why);
  fputs("bench: ", stderr);
  vfprintf(stderr, why, arguments);
  fputc('\n', stderr);
  exit(1);
}

#endif

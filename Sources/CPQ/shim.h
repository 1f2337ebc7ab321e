// libpq as it is, and what Swift can't write: a callback that keeps the notices of a statement.
#pragma once
#include <errno.h>
#include <libpq-fe.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>

/// What the server remarked since the counters were set to 0.
struct cpq_notices {
  /// Messages of severity WARNING.
  unsigned warnings;
  /// Messages of severity ERROR and above, which came beside the statement: the server ends the session.
  unsigned failures;
  /// The newest of them.
  char text[512];
};

static inline void cpq_take_notice(void *context, const PGresult *notice) {
  struct cpq_notices *notices = (struct cpq_notices *)context;
  const char *severity = PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
  if (!severity) return;
  int is_warning = strcmp(severity, "WARNING") == 0;
  int is_failure =
      strcmp(severity, "ERROR") == 0 || strcmp(severity, "FATAL") == 0 || strcmp(severity, "PANIC") == 0;
  if (!is_warning && !is_failure) return;
  notices->warnings += (unsigned)is_warning;
  notices->failures += (unsigned)is_failure;
  const char *text = PQresultErrorField(notice, PG_DIAG_MESSAGE_PRIMARY);
  strncpy(notices->text, text ? text : "", sizeof notices->text - 1);
}

static inline void cpq_print_nothing(void *context, const char *message) {
  (void)context;
  (void)message;
}

/// Has notices be counted in `notices`, which outlives the connection, and nothing be printed.
static inline void cpq_watch_notices(PGconn *connection, struct cpq_notices *notices) {
  PQsetNoticeProcessor(connection, cpq_print_nothing, NULL);
  PQsetNoticeReceiver(connection, cpq_take_notice, notices);
}

/// The five characters of an error's SQLSTATE, or null.
static inline const char *cpq_state(const PGresult *result) { return PQresultErrorField(result, PG_DIAG_SQLSTATE); }

/// An error's message, one line, or null.
static inline const char *cpq_message(const PGresult *result) {
  return PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
}

/// Waits until one of two descriptors (the second may be -1) is ready. Returns a sum of 1 (the first can be read, or is broken),
/// 2 (the first can be written) and 4 (the second can be read); 0 when the time ran out.
static inline int cpq_wait(int socket, int for_writing, int interrupt, int milliseconds) {
  struct pollfd both[2] = {{socket, (short)(POLLIN | (for_writing ? POLLOUT : 0)), 0}, {interrupt, POLLIN, 0}};
  int count = poll(both, interrupt < 0 ? 1 : 2, milliseconds);
  // A signal ends the wait early; the caller looks at its clock and waits again.
  if (count <= 0) return count < 0 && errno == EINTR ? 8 : 0;
  return (both[0].revents & (POLLIN | POLLERR | POLLHUP | POLLNVAL) ? 1 : 0) | (both[0].revents & POLLOUT ? 2 : 0) |
         (both[1].revents ? 4 : 0);
}

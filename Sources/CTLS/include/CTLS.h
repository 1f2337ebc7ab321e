// The server's side of TLS by OpenSSL's libssl, whose headers stay out of Swift's sight.
#ifndef CTLS_H
#define CTLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The keys that seal session tickets. May be used on any thread.
struct ctls_tickets;
/// A certificate with its key, and the rules of sessions. Sessions keep theirs alive. May be used on any thread.
struct ctls_context;
/// The TLS of one connection. Used by one thread at a time.
struct ctls_session;

/// The part of a context that can't be used.
enum ctls_part { CTLS_NONE, CTLS_CHAIN, CTLS_KEY, CTLS_PAIR, CTLS_EXPIRED, CTLS_LIBRARY };

/// The reason why there is no context.
struct ctls_fault {
  enum ctls_part part;
  /// OpenSSL's words, perhaps none.
  char reason[160];
};

/// The outcome of a call, where it is no count of bytes.
enum { CTLS_ENDED = 0, CTLS_WANTS_READING = -1, CTLS_WANTS_WRITING = -2, CTLS_FAILED = -3 };

/// A text in PEM.
struct ctls_pem {
  const void *bytes;
  size_t count;
};

/// Seconds for which a key seals session tickets; for as long again it still opens them.
#define CTLS_TICKET_KEY_SECONDS 3600

/// Makes fresh keys; null without memory or randomness.
struct ctls_tickets *ctls_tickets_make(void);
/// Replaces the key that seals; the one before it still opens tickets.
void ctls_tickets_rotate(struct ctls_tickets *tickets);
void ctls_tickets_free(struct ctls_tickets *tickets);

/// Makes a context; null, with the fault, where a text can't be used, or the certificate expired before `now`, in seconds
/// since 1970. The tickets must outlive the context and its sessions.
struct ctls_context *ctls_context_make(struct ctls_pem chain, struct ctls_pem key, struct ctls_tickets *tickets,
                                       int64_t now, struct ctls_fault *fault);
/// The instant at which the certificate expires, in seconds since 1970.
int64_t ctls_context_expiry(struct ctls_context *context);
/// Writes the SHA-256 of the certificate's public key in DER; false without memory.
bool ctls_context_key_digest(struct ctls_context *context, uint8_t digest[32]);
void ctls_context_free(struct ctls_context *context);

/// Makes a session on a socket, which it does not close; null without memory.
struct ctls_session *ctls_session_make(struct ctls_context *context, int socket);
void ctls_session_free(struct ctls_session *session);
/// Goes on with the handshake: 1 once it is done.
int ctls_handshake(struct ctls_session *session);
/// Reads at most one record: the number of bytes.
int ctls_read(struct ctls_session *session, void *bytes, int count);
/// Writes at most one record: the number of bytes. After CTLS_WANTS_WRITING the same bytes must come again, perhaps with
/// more after them.
int ctls_write(struct ctls_session *session, const void *bytes, int count);
/// Sends close_notify, as far as the socket takes it.
void ctls_close_notify(struct ctls_session *session);

#endif

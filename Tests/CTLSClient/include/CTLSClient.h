// A TLS client in memory, for tests: its caller carries the bytes.
#ifndef CTLS_CLIENT_H
#define CTLS_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

struct ctls_client;

/// The outcome of a call, where it is no count of bytes.
enum { CTLS_CLIENT_ENDED = 0, CTLS_CLIENT_WAITS = -1, CTLS_CLIENT_FAILED = -2 };

/// Makes a client that trusts every certificate.
///
/// - version: 12 or 13, the one version of TLS that it speaks.
/// - protocols: ALPN as it is sent, each name after its length; empty for none.
struct ctls_client *ctls_client_make(int version, const char *protocols);
void ctls_client_free(struct ctls_client *client);
/// Goes on with the handshake: 1 once it is done.
int ctls_client_handshake(struct ctls_client *client);
int ctls_client_read(struct ctls_client *client, void *bytes, int count);
int ctls_client_write(struct ctls_client *client, const void *bytes, int count);
/// Writes close_notify.
void ctls_client_close_notify(struct ctls_client *client);
/// Asks the server to update its keys too (TLS 1.3).
bool ctls_client_update_keys(struct ctls_client *client);
/// Takes bytes that the client wants to send: how many.
int ctls_client_take(struct ctls_client *client, void *bytes, int count);
/// Gives the client bytes that it has received.
void ctls_client_give(struct ctls_client *client, const void *bytes, int count);

/// Whether the session goes on from an earlier one.
bool ctls_client_is_resumed(struct ctls_client *client);
/// Whether `http/1.1` was chosen.
bool ctls_client_speaks_http11(struct ctls_client *client);
/// Lets `client` go on, before its handshake, with the newest session of `earlier`; false where there is none.
bool ctls_client_resume(struct ctls_client *client, struct ctls_client *earlier);
/// The description of the alert that ended the connection, or 0.
int ctls_client_alert(struct ctls_client *client);
/// The expiry of the server's certificate, in seconds since 1970.
long long ctls_client_peer_expiry(struct ctls_client *client);

#endif

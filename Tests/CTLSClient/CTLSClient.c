#include "CTLSClient.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct ctls_client {
  SSL_CTX *context;
  SSL *ssl;
  BIO *in, *out;
  SSL_SESSION *newest;
  int alert;
};

static int keep_session(SSL *ssl, SSL_SESSION *session) {
  struct ctls_client *client = SSL_get_app_data(ssl);
  SSL_SESSION_free(client->newest);
  client->newest = session;
  return 1;
}

static void note_alert(const SSL *ssl, int where, int value) {
  struct ctls_client *client = SSL_get_app_data(ssl);
  if (where & SSL_CB_READ && where & SSL_CB_ALERT && value >> 8 == SSL3_AL_FATAL) client->alert = value & 0xff;
}

struct ctls_client *ctls_client_make(int version, const char *protocols) {
  struct ctls_client *client = calloc(1, sizeof *client);
  client->context = SSL_CTX_new(TLS_client_method());
  int number = version == 12 ? TLS1_2_VERSION : TLS1_3_VERSION;
  SSL_CTX_set_min_proto_version(client->context, number);
  SSL_CTX_set_max_proto_version(client->context, number);
  SSL_CTX_set_session_cache_mode(client->context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(client->context, keep_session);
  client->ssl = SSL_new(client->context);
  SSL_set_app_data(client->ssl, client);
  SSL_set_info_callback(client->ssl, note_alert);
  SSL_set_alpn_protos(client->ssl, (const unsigned char *)protocols, (unsigned)strlen(protocols));
  client->in = BIO_new(BIO_s_mem());
  client->out = BIO_new(BIO_s_mem());
  BIO_set_mem_eof_return(client->in, -1);
  SSL_set_bio(client->ssl, client->in, client->out);
  SSL_set_connect_state(client->ssl);
  return client;
}

void ctls_client_free(struct ctls_client *client) {
  SSL_SESSION_free(client->newest);
  SSL_free(client->ssl);
  SSL_CTX_free(client->context);
  free(client);
}

static int outcome(struct ctls_client *client, int result) {
  int error = SSL_get_error(client->ssl, result);
  ERR_clear_error();
  if (error == SSL_ERROR_WANT_READ) return CTLS_CLIENT_WAITS;
  return error == SSL_ERROR_ZERO_RETURN ? CTLS_CLIENT_ENDED : CTLS_CLIENT_FAILED;
}

int ctls_client_handshake(struct ctls_client *client) {
  ERR_clear_error();
  int result = SSL_do_handshake(client->ssl);
  return result == 1 ? 1 : outcome(client, result);
}

int ctls_client_read(struct ctls_client *client, void *bytes, int count) {
  ERR_clear_error();
  int result = SSL_read(client->ssl, bytes, count);
  return result > 0 ? result : outcome(client, result);
}

int ctls_client_write(struct ctls_client *client, const void *bytes, int count) {
  ERR_clear_error();
  int result = SSL_write(client->ssl, bytes, count);
  return result > 0 ? result : outcome(client, result);
}

void ctls_client_close_notify(struct ctls_client *client) {
  ERR_clear_error();
  SSL_shutdown(client->ssl);
  ERR_clear_error();
}

bool ctls_client_update_keys(struct ctls_client *client) {
  return SSL_key_update(client->ssl, SSL_KEY_UPDATE_REQUESTED) == 1 && SSL_do_handshake(client->ssl) == 1;
}

int ctls_client_take(struct ctls_client *client, void *bytes, int count) {
  int taken = BIO_read(client->out, bytes, count);
  return taken > 0 ? taken : 0;
}

void ctls_client_give(struct ctls_client *client, const void *bytes, int count) { BIO_write(client->in, bytes, count); }

bool ctls_client_is_resumed(struct ctls_client *client) { return SSL_session_reused(client->ssl) == 1; }

bool ctls_client_speaks_http11(struct ctls_client *client) {
  const unsigned char *name = NULL;
  unsigned int count = 0;
  SSL_get0_alpn_selected(client->ssl, &name, &count);
  return count == 8 && memcmp(name, "http/1.1", 8) == 0;
}

bool ctls_client_resume(struct ctls_client *client, struct ctls_client *earlier) {
  return earlier->newest && SSL_set_session(client->ssl, earlier->newest) == 1;
}

int ctls_client_alert(struct ctls_client *client) { return client->alert; }

long long ctls_client_peer_expiry(struct ctls_client *client) {
  X509 *certificate = SSL_get0_peer_certificate(client->ssl);
  struct tm end;
  return certificate && ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &end) == 1 ? timegm(&end) : 0;
}

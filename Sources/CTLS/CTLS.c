#include "CTLS.h"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// MARK: Keys of session tickets

enum { KEY_NAME_BYTES = 16, CIPHER_KEY_BYTES = 32, MAC_KEY_BYTES = 32 };

struct ticket_key {
  bool is_set;
  unsigned char name[KEY_NAME_BYTES];
  unsigned char cipher[CIPHER_KEY_BYTES];
  unsigned char mac[MAC_KEY_BYTES];
};

struct ctls_tickets {
  pthread_mutex_t lock;
  /// The key that seals tickets, and the one before it, which still opens them.
  struct ticket_key current, previous;
  time_t made_at;
};

static time_t now_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_BOOTTIME, &now);
  return now.tv_sec;
}

static bool renew(struct ctls_tickets *tickets) {
  struct ticket_key next = {.is_set = true};
  if (RAND_bytes(next.name, sizeof next.name) != 1 || RAND_priv_bytes(next.cipher, sizeof next.cipher) != 1 ||
      RAND_priv_bytes(next.mac, sizeof next.mac) != 1)
    return false;
  tickets->previous = tickets->current;
  tickets->current = next;
  tickets->made_at = now_seconds();
  OPENSSL_cleanse(&next, sizeof next);
  return true;
}

struct ctls_tickets *ctls_tickets_make(void) {
  struct ctls_tickets *tickets = calloc(1, sizeof *tickets);
  if (!tickets) return NULL;
  pthread_mutex_init(&tickets->lock, NULL);
  if (renew(tickets)) return tickets;
  ctls_tickets_free(tickets);
  return NULL;
}

void ctls_tickets_rotate(struct ctls_tickets *tickets) {
  pthread_mutex_lock(&tickets->lock);
  renew(tickets);
  pthread_mutex_unlock(&tickets->lock);
}

void ctls_tickets_free(struct ctls_tickets *tickets) {
  pthread_mutex_destroy(&tickets->lock);
  OPENSSL_cleanse(tickets, sizeof *tickets);
  free(tickets);
}

/// Replaces a key that is too old. After two terms without a ticket the key before it is too old as well.
static void rotate_when_due(struct ctls_tickets *tickets) {
  time_t age = now_seconds() - tickets->made_at;
  if (age < CTLS_TICKET_KEY_SECONDS || !renew(tickets)) return;
  if (age >= 2 * CTLS_TICKET_KEY_SECONDS) OPENSSL_cleanse(&tickets->previous, sizeof tickets->previous);
}

static bool begin(const struct ticket_key *key, unsigned char *iv, EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac, int seals) {
  OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, (void *)key->mac, sizeof key->mac),
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, "SHA256", 0),
      OSSL_PARAM_construct_end(),
  };
  return EVP_CipherInit_ex(cipher, EVP_aes_256_cbc(), NULL, key->cipher, iv, seals) == 1 &&
         EVP_MAC_CTX_set_params(mac, parameters) == 1;
}

/// Seals or opens a ticket: -1 fails, 0 knows no key, 1 has the newest key, 2 has the one before and renews the ticket.
static int ticket(SSL *ssl, unsigned char *name, unsigned char *iv, EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac, int seals) {
  struct ctls_tickets *tickets = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
  int result = 0;
  pthread_mutex_lock(&tickets->lock);
  rotate_when_due(tickets);
  if (seals) {
    memcpy(name, tickets->current.name, KEY_NAME_BYTES);
    bool is_ready = RAND_bytes(iv, EVP_CIPHER_get_iv_length(EVP_aes_256_cbc())) == 1;
    result = is_ready && begin(&tickets->current, iv, cipher, mac, seals) ? 1 : -1;
  } else if (memcmp(name, tickets->current.name, KEY_NAME_BYTES) == 0) {
    result = begin(&tickets->current, iv, cipher, mac, seals) ? 1 : -1;
  } else if (tickets->previous.is_set && memcmp(name, tickets->previous.name, KEY_NAME_BYTES) == 0) {
    result = begin(&tickets->previous, iv, cipher, mac, seals) ? 2 : -1;
  }
  pthread_mutex_unlock(&tickets->lock);
  return result;
}

// MARK: Contexts

static SSL_CTX *ctx(struct ctls_context *context) { return (SSL_CTX *)context; }

/// Refuses an encrypted file; without this OpenSSL asks for its password on the terminal.
static int no_password(char *buffer, int size, int writes, void *context) {
  (void)buffer, (void)size, (void)writes, (void)context;
  return -1;
}

static BIO *open_pem(struct ctls_pem pem) {
  return pem.count > 0 && pem.count <= 0x7fffffff ? BIO_new_mem_buf(pem.bytes, (int)pem.count) : NULL;
}

/// Whether reading ended because no further block was there.
static bool is_at_end(void) {
  unsigned long error = ERR_peek_last_error();
  return ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
}

/// Reads the server's certificate, then those that lead to its root.
static bool use_chain(SSL_CTX *context, struct ctls_pem pem) {
  BIO *file = open_pem(pem);
  X509 *certificate = file ? PEM_read_bio_X509_AUX(file, NULL, no_password, NULL) : NULL;
  bool is_used = certificate && SSL_CTX_use_certificate(context, certificate) == 1;
  X509_free(certificate);
  while (is_used && (certificate = PEM_read_bio_X509(file, NULL, no_password, NULL))) {
    if (SSL_CTX_add0_chain_cert(context, certificate) == 1) continue;
    X509_free(certificate);
    is_used = false;
  }
  is_used = is_used && is_at_end();
  BIO_free(file);
  if (is_used) ERR_clear_error();
  return is_used;
}

static bool is_expired(SSL_CTX *context, int64_t now) {
  time_t instant = now;
  const ASN1_TIME *end = X509_get0_notAfter(SSL_CTX_get0_certificate(context));
  return X509_cmp_time(end, &instant) <= 0;
}

static bool use_key(SSL_CTX *context, struct ctls_pem pem, enum ctls_part *part) {
  *part = CTLS_KEY;
  BIO *file = open_pem(pem);
  EVP_PKEY *key = file ? PEM_read_bio_PrivateKey(file, NULL, no_password, NULL) : NULL;
  BIO_free(file);
  if (!key) return false;
  *part = CTLS_PAIR;
  bool is_used = SSL_CTX_use_PrivateKey(context, key) == 1 && SSL_CTX_check_private_key(context) == 1;
  EVP_PKEY_free(key);
  return is_used;
}

static int choose_protocol(SSL *ssl, const unsigned char **chosen, unsigned char *size, const unsigned char *offered,
                           unsigned int count, void *argument) {
  (void)ssl, (void)argument;
  static const unsigned char known[] = "\x08http/1.1";
  unsigned char *found = NULL;
  if (SSL_select_next_proto(&found, size, known, sizeof known - 1, offered, count) != OPENSSL_NPN_NEGOTIATED)
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

/// The ciphers of TLS 1.2: forward secrecy and authenticated encryption.
static const char ciphers[] =
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:"
    "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305";
static const char ciphers13[] = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";
/// The key exchanges; larger groups cost a server milliseconds a handshake.
static const char groups[] = "X25519:P-256:P-384";
/// Bits of security that keys and signatures have: 112, which excludes RSA under 2048 bits and SHA-1.
enum { SECURITY_LEVEL = 2 };

static bool set_rules(SSL_CTX *context) {
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_IGNORE_UNEXPECTED_EOF |
                                   SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
  SSL_CTX_set_mode(context,
                   SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                       SSL_MODE_NO_AUTO_CHAIN);
  // With it one read would go through as many records without data, such as key updates, as a client sends.
  SSL_CTX_clear_mode(context, SSL_MODE_AUTO_RETRY);
  // A session is in its ticket, not in this process.
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_timeout(context, 2 * CTLS_TICKET_KEY_SECONDS);
  SSL_CTX_set_security_level(context, SECURITY_LEVEL);
  SSL_CTX_set_alpn_select_cb(context, choose_protocol, NULL);
  return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 && SSL_CTX_set_max_proto_version(context, 0) == 1 &&
         SSL_CTX_set_cipher_list(context, ciphers) == 1 && SSL_CTX_set_ciphersuites(context, ciphers13) == 1 &&
         SSL_CTX_set1_groups_list(context, groups) == 1 && SSL_CTX_set_max_early_data(context, 0) == 1 &&
         SSL_CTX_set_num_tickets(context, 1) == 1 && SSL_CTX_set_tlsext_ticket_key_evp_cb(context, ticket) == 1;
}

struct ctls_context *ctls_context_make(struct ctls_pem chain, struct ctls_pem key, struct ctls_tickets *tickets,
                                       int64_t now, struct ctls_fault *fault) {
  ERR_clear_error();
  *fault = (struct ctls_fault){.part = CTLS_LIBRARY};
  SSL_CTX *context = SSL_CTX_new(TLS_server_method());
  bool is_made = context && SSL_CTX_set_app_data(context, tickets) == 1 && set_rules(context);
  if (is_made) {
    fault->part = CTLS_CHAIN;
    is_made = use_chain(context, chain) && use_key(context, key, &fault->part);
  }
  if (is_made && is_expired(context, now)) {
    fault->part = CTLS_EXPIRED;
    is_made = false;
  }
  if (is_made) {
    fault->part = CTLS_NONE;
    return (struct ctls_context *)context;
  }
  const char *reason = ERR_reason_error_string(ERR_peek_error());
  if (reason) strncpy(fault->reason, reason, sizeof fault->reason - 1);
  ERR_clear_error();
  SSL_CTX_free(context);
  return NULL;
}

int64_t ctls_context_expiry(struct ctls_context *context) {
  struct tm end;
  return ASN1_TIME_to_tm(X509_get0_notAfter(SSL_CTX_get0_certificate(ctx(context))), &end) == 1 ? timegm(&end) : 0;
}

bool ctls_context_key_digest(struct ctls_context *context, uint8_t digest[32]) {
  unsigned char *der = NULL;
  int count = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(SSL_CTX_get0_certificate(ctx(context))), &der);
  bool is_done = count > 0 && EVP_Digest(der, (size_t)count, digest, NULL, EVP_sha256(), NULL) == 1;
  OPENSSL_free(der);
  return is_done;
}

void ctls_context_free(struct ctls_context *context) { SSL_CTX_free(ctx(context)); }

// MARK: Sessions

static SSL *ssl_of(struct ctls_session *session) { return (SSL *)session; }

struct ctls_session *ctls_session_make(struct ctls_context *context, int socket) {
  ERR_clear_error();
  SSL *ssl = SSL_new(ctx(context));
  if (!ssl) return NULL;
  if (SSL_set_fd(ssl, socket) != 1) {
    SSL_free(ssl);
    return NULL;
  }
  SSL_set_accept_state(ssl);
  return (struct ctls_session *)ssl;
}

void ctls_session_free(struct ctls_session *session) { SSL_free(ssl_of(session)); }

static int outcome(SSL *ssl, int result) {
  switch (SSL_get_error(ssl, result)) {
  case SSL_ERROR_WANT_READ: return CTLS_WANTS_READING;
  case SSL_ERROR_WANT_WRITE: return CTLS_WANTS_WRITING;
  case SSL_ERROR_ZERO_RETURN: return CTLS_ENDED;
  default:
    // An error that stays in the thread's queue would be taken for that of the next call.
    ERR_clear_error();
    return CTLS_FAILED;
  }
}

int ctls_handshake(struct ctls_session *session) {
  ERR_clear_error();
  int result = SSL_do_handshake(ssl_of(session));
  return result == 1 ? 1 : outcome(ssl_of(session), result);
}

int ctls_read(struct ctls_session *session, void *bytes, int count) {
  ERR_clear_error();
  int result = SSL_read(ssl_of(session), bytes, count);
  return result > 0 ? result : outcome(ssl_of(session), result);
}

int ctls_write(struct ctls_session *session, const void *bytes, int count) {
  ERR_clear_error();
  int result = SSL_write(ssl_of(session), bytes, count);
  return result > 0 ? result : outcome(ssl_of(session), result);
}

void ctls_close_notify(struct ctls_session *session) {
  ERR_clear_error();
  if (SSL_is_init_finished(ssl_of(session))) SSL_shutdown(ssl_of(session));
  ERR_clear_error();
}

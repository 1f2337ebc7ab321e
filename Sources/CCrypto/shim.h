// The functions of OpenSSL's libcrypto that are wanted; its headers stay out of Swift's sight.
#pragma once
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A key of HMAC-SHA256, ready for one message after another.
typedef struct evp_mac_ctx_st ccrypto_hmac;

/// Makes a key of `count` bytes, at least one; NULL where there is no memory for it.
static inline ccrypto_hmac *ccrypto_hmac_make(const void *key, size_t count) {
  EVP_MAC *algorithm = EVP_MAC_fetch(NULL, OSSL_MAC_NAME_HMAC, NULL);
  EVP_MAC_CTX *made = algorithm ? EVP_MAC_CTX_new(algorithm) : NULL;
  EVP_MAC_free(algorithm);
  char digest[] = "SHA256";
  OSSL_PARAM parameters[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
                             OSSL_PARAM_construct_end()};
  if (made && EVP_MAC_init(made, key, count, parameters)) return made;
  EVP_MAC_CTX_free(made);
  return NULL;
}

/// Writes the 32 bytes of the code of a message in two parts; false where there is no memory for it.
static inline bool ccrypto_hmac_code(ccrypto_hmac *key, const void *head, size_t head_count, const void *body,
                                     size_t body_count, uint8_t *code) {
  size_t written = 0;
  // Without a key the one before is taken again.
  return EVP_MAC_init(key, NULL, 0, NULL) && EVP_MAC_update(key, head, head_count) &&
         EVP_MAC_update(key, body, body_count) && EVP_MAC_final(key, code, &written, 32) && written == 32;
}

/// Frees a key, and clears its memory.
static inline void ccrypto_hmac_free(ccrypto_hmac *key) { EVP_MAC_CTX_free(key); }

/// Writes the 32 bytes of the SHA-256 of `bytes`; false where there is no memory for it.
static inline bool ccrypto_sha256(const void *bytes, size_t count, uint8_t *digest) {
  return EVP_Digest(bytes, count, digest, NULL, EVP_sha256(), NULL) == 1;
}

/// Whether two runs of `count` bytes are the same, compared in constant time.
static inline bool ccrypto_equal(const void *left, const void *right, size_t count) {
  return CRYPTO_memcmp(left, right, count) == 0;
}

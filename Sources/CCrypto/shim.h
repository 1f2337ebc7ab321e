// The three functions of OpenSSL's libcrypto that are wanted; its headers stay out of Swift's sight.
#pragma once
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Writes the 32 bytes of the HMAC-SHA256 of `bytes` under `key`; false where there is no memory for it.
static inline bool ccrypto_hmac_sha256(const void *key, size_t key_count, const void *bytes, size_t count,
                                       uint8_t *code) {
  unsigned int written = 0;
  return key_count <= 0x7fffffff && HMAC(EVP_sha256(), key, (int)key_count, bytes, count, code, &written) &&
         written == 32;
}

/// Writes the 32 bytes of the SHA-256 of `bytes`; false where there is no memory for it.
static inline bool ccrypto_sha256(const void *bytes, size_t count, uint8_t *digest) {
  return EVP_Digest(bytes, count, digest, NULL, EVP_sha256(), NULL) == 1;
}

/// Whether two runs of `count` bytes are the same, compared in constant time.
static inline bool ccrypto_equal(const void *left, const void *right, size_t count) {
  return CRYPTO_memcmp(left, right, count) == 0;
}

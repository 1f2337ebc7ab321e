// What Swift can't import from libcurl: variadic calls, by the type of their last argument, and macros.
#pragma once
#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/// Receives bytes of an answer; returns how many it took, fewer to give the transfer up.
typedef size_t (*ccurl_sink)(char *bytes, size_t size, size_t count, void *context);
/// Called about once a second and whenever something moves; other than 0 gives the transfer up.
typedef int (*ccurl_pulse)(void *context, curl_off_t, curl_off_t, curl_off_t, curl_off_t);

/// Initializes the library; once a process, before any handle is made.
static inline CURLcode ccurl_start(void) { return curl_global_init(CURL_GLOBAL_DEFAULT); }

/// Sets an option that takes text, which is copied.
static inline CURLcode ccurl_set_text(CURL *handle, CURLoption option, const char *text) {
  return curl_easy_setopt(handle, option, text);
}

/// Sets an option that takes a number or a flag.
static inline CURLcode ccurl_set_number(CURL *handle, CURLoption option, long number) {
  return curl_easy_setopt(handle, option, number);
}

/// Sets the request's body, which is copied.
static inline CURLcode ccurl_set_body(CURL *handle, const void *bytes, size_t count) {
  CURLcode code = curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)count);
  return code ? code : curl_easy_setopt(handle, CURLOPT_COPYPOSTFIELDS, bytes);
}

/// Sets the request's header lines; the list is borrowed until the transfer has ended.
static inline CURLcode ccurl_set_headers(CURL *handle, struct curl_slist *lines) {
  return curl_easy_setopt(handle, CURLOPT_HTTPHEADER, lines);
}

/// Tells where hosts' addresses are, lines of CURLOPT_RESOLVE; the list is borrowed until the transfer has begun.
static inline CURLcode ccurl_set_resolutions(CURL *handle, struct curl_slist *lines) {
  return curl_easy_setopt(handle, CURLOPT_RESOLVE, lines);
}

/// How many connections were made for the last transfer; 0 where a kept one was used.
static inline long ccurl_connections_made(CURL *handle) {
  long count = 0;
  curl_easy_getinfo(handle, CURLINFO_NUM_CONNECTS, &count);
  return count;
}

/// Why OpenSSL did not trust the certificate of the last transfer's server: a code of X509_STORE_CTX_get_error(3), other than
/// which libcurl has reasons of its own, such as another name.
static inline long ccurl_verify_result(CURL *handle) {
  long code = 0;
  curl_easy_getinfo(handle, CURLINFO_SSL_VERIFYRESULT, &code);
  return code;
}

/// Sets what takes header lines and the body; both get `context` last. `ccurl_multi_next` returns it as well.
static inline CURLcode ccurl_set_sinks(CURL *handle, ccurl_sink head, ccurl_sink body, void *context) {
  curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, head);
  curl_easy_setopt(handle, CURLOPT_HEADERDATA, context);
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, body);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, context);
  return curl_easy_setopt(handle, CURLOPT_PRIVATE, context);
}

/// Sets the pulse; it gets `context` first.
static inline CURLcode ccurl_set_pulse(CURL *handle, ccurl_pulse pulse, void *context) {
  curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, pulse);
  curl_easy_setopt(handle, CURLOPT_XFERINFODATA, context);
  return curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
}

/// Where errors are described; `buffer` has CURL_ERROR_SIZE bytes and outlives the handle's transfers.
static inline CURLcode ccurl_set_error_buffer(CURL *handle, char *buffer) {
  return curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, buffer);
}

/// Sets what opens sockets; it gets `context` first.
static inline CURLcode ccurl_set_opener(CURL *handle, curl_opensocket_callback open, void *context) {
  curl_easy_setopt(handle, CURLOPT_OPENSOCKETDATA, context);
  return curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, open);
}

/// Sets what is asked before each request, once it has a connection, new or kept; it gets `context` first.
static inline CURLcode ccurl_set_gate(CURL *handle, curl_prereq_callback ask, void *context) {
  curl_easy_setopt(handle, CURLOPT_PREREQDATA, context);
  return curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, ask);
}

/// Sets what closes sockets; it gets `context` first, which outlives the handle: connections keep both.
static inline CURLcode ccurl_set_closer(CURL *handle, curl_closesocket_callback close, void *context) {
  curl_easy_setopt(handle, CURLOPT_CLOSESOCKETDATA, context);
  return curl_easy_setopt(handle, CURLOPT_CLOSESOCKETFUNCTION, close);
}

/// Sets an option of a multi handle that takes a number or a flag.
static inline CURLMcode ccurl_multi_set_number(CURLM *multi, CURLMoption option, long number) {
  return curl_multi_setopt(multi, option, number);
}

/// Sets what is told for which events a multi handle's sockets are to be watched; it gets `context` last but one.
static inline CURLMcode ccurl_multi_set_watcher(CURLM *multi, curl_socket_callback watch, void *context) {
  curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
  return curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, watch);
}

/// Takes the next transfer that has ended: the context of its sinks, and how it ended. Null when there is none.
static inline void *ccurl_multi_next(CURLM *multi, CURLcode *code) {
  int left;
  void *context = NULL;
  CURLMsg *message = curl_multi_info_read(multi, &left);
  if (!message) return NULL;
  *code = message->data.result;
  curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &context);
  return context;
}

/// Copies the address and the port to connect to; returns how many bytes an address has, 4 or 16, or 0 for other kinds.
static inline size_t ccurl_address(const struct curl_sockaddr *target, uint8_t bytes[16], uint16_t *port) {
  if (target->family == AF_INET) {
    const struct sockaddr_in *name = (const struct sockaddr_in *)&target->addr;
    memcpy(bytes, &name->sin_addr, 4);
    *port = ntohs(name->sin_port);
    return 4;
  }
  if (target->family == AF_INET6) {
    const struct sockaddr_in6 *name = (const struct sockaddr_in6 *)&target->addr;
    memcpy(bytes, &name->sin6_addr, 16);
    *port = ntohs(name->sin6_port);
    return 16;
  }
  return 0;
}

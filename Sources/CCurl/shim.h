// What Swift can't import from libcurl: variadic calls, by the type of their last argument, and macros.
#pragma once
#include <curl/curl.h>
#include <stddef.h>
#include <stdint.h>

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

/// Sets who hears of header lines, of the body and of time; all get `context` last or first, as libcurl has it.
static inline CURLcode ccurl_set_sinks(CURL *handle, ccurl_sink head, ccurl_sink body, ccurl_pulse pulse,
                                       void *context) {
  curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, head);
  curl_easy_setopt(handle, CURLOPT_HEADERDATA, context);
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, body);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, context);
  curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, pulse);
  return curl_easy_setopt(handle, CURLOPT_XFERINFODATA, context);
}

/// Where errors are described; `buffer` has CURL_ERROR_SIZE bytes and outlives the handle's transfers.
static inline CURLcode ccurl_set_error_buffer(CURL *handle, char *buffer) {
  return curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, buffer);
}

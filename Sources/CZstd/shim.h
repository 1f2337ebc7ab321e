// libzstd, with its macros as functions.
#pragma once
#include <stddef.h>
#include <zstd.h>

/// The size of a frame's content as the frame says it; -1 where it does not say, or is no frame.
static inline long long czstd_content_size(const void *frame, size_t count) {
  unsigned long long size = ZSTD_getFrameContentSize(frame, count);
  if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR || size > 0x7fffffffffffffffULL) return -1;
  return (long long)size;
}

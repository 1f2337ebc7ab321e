// libnghttp2, and the parts of its frames as functions: a frame is a union.
#pragma once
#include <nghttp2/nghttp2.h>

static inline int32_t cnghttp2_stream(const nghttp2_frame *frame) { return frame->hd.stream_id; }
static inline int cnghttp2_type(const nghttp2_frame *frame) { return frame->hd.type; }
static inline int cnghttp2_ends_stream(const nghttp2_frame *frame) {
  return (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
}

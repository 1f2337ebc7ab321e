// What Swift can't import from libmicrohttpd: variadic calls, macros, unions.
#pragma once
#include <microhttpd.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

/// The functions a daemon calls; all get `context` first.
struct cmhd_callbacks {
  void *context;
  MHD_AcceptPolicyCallback accept;
  MHD_NotifyConnectionCallback connection;
  void *(*request_line)(void *context, const char *target, struct MHD_Connection *connection);
  MHD_AccessHandlerCallback request;
  MHD_RequestCompletedCallback completed;
};

/// Leaves the target as it came: its reader decodes it, and can refuse the result.
static inline size_t cmhd_keep_escapes(void *context, struct MHD_Connection *connection, char *text) {
  (void)context;
  (void)connection;
  return strlen(text);
}

/// Starts a daemon without threads or timeouts of its own on a listening, non-blocking socket; with -1 it has none, and is
/// given connections.
static inline struct MHD_Daemon *cmhd_start(int listener, unsigned connections, size_t memory,
                                            struct cmhd_callbacks calls) {
  const int listens = listener >= 0;
  // The library refuses a socket, even none, where the flag is set.
  const struct MHD_OptionItem listening[] = {
      {listens ? MHD_OPTION_LISTEN_SOCKET : MHD_OPTION_END, listener, NULL}, {MHD_OPTION_END, 0, NULL}};
  return MHD_start_daemon(
      MHD_USE_EPOLL | MHD_USE_TURBO | (listens ? 0 : MHD_USE_NO_LISTEN_SOCKET), 0, calls.accept, calls.context,
      calls.request, calls.context, MHD_OPTION_ARRAY, listening, MHD_OPTION_CONNECTION_LIMIT, connections,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory, MHD_OPTION_CONNECTION_TIMEOUT, 0u,
      MHD_OPTION_STRICT_FOR_CLIENT, -1, MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1,
      MHD_OPTION_NOTIFY_CONNECTION, calls.connection, calls.context,
      MHD_OPTION_NOTIFY_COMPLETED, calls.completed, calls.context,
      MHD_OPTION_URI_LOG_CALLBACK, calls.request_line, calls.context,
      MHD_OPTION_UNESCAPE_CALLBACK, &cmhd_keep_escapes, NULL, MHD_OPTION_END);
}

/// The epoll descriptor that becomes readable when the daemon has something to do.
static inline int cmhd_epoll(struct MHD_Daemon *daemon) {
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
  return info ? info->epoll_fd : -1;
}

/// What NOTIFY_CONNECTION stored for the connection, or NULL.
static inline void *cmhd_context(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info ? info->socket_context : NULL;
}

/// The connection's socket, or -1.
static inline int cmhd_socket(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info ? info->connect_fd : -1;
}

/// Bytes from the request line's first to the blank line's last, once the head is complete.
static inline size_t cmhd_head_size(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  return info ? info->header_size : 0;
}

/// The peer's address, or NULL.
static inline const struct sockaddr *cmhd_peer(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  return info ? info->client_addr : NULL;
}

// A bare libmicrohttpd server: what the library does by itself, to measure timerd against.
//
//   bare PORT GET-ANSWER POST-ANSWER [LOG]
//
// The answers are files as `curl -si` prints them: every GET and every POST gets the same bytes and headers as timerd
// would send. The loop has timerd's shape: one epoll of our own around the library's, MHD_run_wait without waiting.
// With LOG, POST bodies are appended there by a second thread, one fdatasync a group, and answered after it.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { MAX_HEADERS = 16, MAX_BODY = 65536, MAX_POSTS = 4096 };

struct answer {
  unsigned status;
  int header_count;
  char *names[MAX_HEADERS], *values[MAX_HEADERS];
  char *body;
  size_t body_count;
};

// A POST under way: its body, and whether it is on disk.
struct post {
  struct post *next;
  size_t count;
  int is_submitted, is_answered;
  atomic_int is_done;
  char body[MAX_BODY];
};

static struct answer get_answer, post_answer;
static struct post *free_posts;
static int log_fd = -1, wake_fd = -1, waiting;
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_filled = PTHREAD_COND_INITIALIZER;
static struct post *queue;
// The context of a GET whose head was seen.
static char get_seen;

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static void read_answer(const char *path, struct answer *answer) {
  FILE *file = fopen(path, "r");
  char line[8192];
  if (!file || !fgets(line, sizeof line, file)) fail(path);
  answer->status = (unsigned)atoi(line + strlen("HTTP/1.1 "));
  while (fgets(line, sizeof line, file)) {
    line[strcspn(line, "\r\n")] = 0;
    if (!*line) break;
    char *value = strstr(line, ": ");
    if (!value || answer->header_count == MAX_HEADERS) continue;
    *value = 0;
    if (!strcasecmp(line, "date") || !strcasecmp(line, "content-length") || !strcasecmp(line, "connection")) continue;
    answer->names[answer->header_count] = strdup(line);
    answer->values[answer->header_count++] = strdup(value + 2);
  }
  answer->body = malloc(MAX_BODY);
  answer->body_count = fread(answer->body, 1, MAX_BODY, file);
  fclose(file);
}

// A response object a request, as any server whose answers differ must make.
static enum MHD_Result send_answer(struct MHD_Connection *connection, const struct answer *answer) {
  struct MHD_Response *response =
      MHD_create_response_from_buffer(answer->body_count, answer->body, MHD_RESPMEM_PERSISTENT);
  for (int i = 0; i < answer->header_count; i++)
    MHD_add_response_header(response, answer->names[i], answer->values[i]);
  enum MHD_Result result = MHD_queue_response(connection, answer->status, response);
  MHD_destroy_response(response);
  return result;
}

static struct post *take_post(void) {
  struct post *post = free_posts;
  if (post) free_posts = post->next;
  else if (!(post = malloc(sizeof *post))) fail("malloc");
  post->count = 0;
  post->is_submitted = post->is_answered = 0;
  atomic_init(&post->is_done, 0);
  return post;
}

static void submit(struct post *post) {
  post->is_submitted = 1;
  waiting++;
  pthread_mutex_lock(&queue_lock);
  post->next = queue;
  queue = post;
  pthread_cond_signal(&queue_filled);
  pthread_mutex_unlock(&queue_lock);
}

static void *commit(void *unused) {
  static char bytes[MAX_POSTS * 1024];
  (void)unused;
  for (;;) {
    pthread_mutex_lock(&queue_lock);
    while (!queue) pthread_cond_wait(&queue_filled, &queue_lock);
    struct post *group = queue;
    queue = NULL;
    pthread_mutex_unlock(&queue_lock);
    size_t count = 0;
    for (struct post *post = group; post; post = post->next) {
      if (count + post->count > sizeof bytes) fail("a group is too large");
      memcpy(bytes + count, post->body, post->count);
      count += post->count;
    }
    if (write(log_fd, bytes, count) != (ssize_t)count || fdatasync(log_fd) != 0) fail("log");
    while (group) {
      struct post *next = group->next;
      atomic_store(&group->is_done, 1);
      group = next;
    }
    uint64_t one = 1;
    if (write(wake_fd, &one, sizeof one) < 0) fail("eventfd");
  }
  return NULL;
}

static enum MHD_Result handle(void *cls, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *bytes, size_t *count, void **context) {
  (void)cls, (void)url, (void)version;
  if (*method == 'G') {
    if (*context) return send_answer(connection, &get_answer);
    *context = &get_seen;
    return MHD_YES;
  }
  struct post *post = *context;
  if (!post) {
    *context = take_post();
    return MHD_YES;
  }
  if (*count) {
    if (post->count + *count > MAX_BODY) return MHD_NO;
    memcpy(post->body + post->count, bytes, *count);
    post->count += *count;
    *count = 0;
    return MHD_YES;
  }
  if (log_fd >= 0) {
    if (!post->is_submitted) submit(post);
    if (!atomic_load(&post->is_done)) return MHD_YES;
    waiting--;
    post->is_answered = 1;
  }
  return send_answer(connection, &post_answer);
}

static void completed(void *cls, struct MHD_Connection *connection, void **context,
                      enum MHD_RequestTerminationCode code) {
  struct post *post = *context;
  (void)cls, (void)connection, (void)code;
  *context = NULL;
  if (!post || post == (void *)&get_seen) return;
  if (post->is_submitted && !post->is_answered) {
    // The client left while its group commits: the committer may still hold the post, so it is never used again.
    waiting--;
    return;
  }
  post->next = free_posts;
  free_posts = post;
}

int main(int argc, char **argv) {
  if (argc < 4) {
    fprintf(stderr, "bare PORT GET-ANSWER POST-ANSWER [LOG]\n");
    return 64;
  }
  read_answer(argv[2], &get_answer);
  read_answer(argv[3], &post_answer);
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)atoi(argv[1])),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  struct MHD_Daemon *daemon = MHD_start_daemon(
      MHD_USE_EPOLL | MHD_USE_TURBO | MHD_USE_ERROR_LOG, 0, NULL, NULL, handle, NULL,  //
      MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)16384,  //
      MHD_OPTION_CONNECTION_LIMIT, (unsigned)2000, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)60,  //
      MHD_OPTION_NOTIFY_COMPLETED, completed, NULL, MHD_OPTION_END);
  if (!daemon) fail("listen");
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  int daemon_fd = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
  struct epoll_event event = {.events = EPOLLIN, .data.fd = daemon_fd};
  epoll_ctl(epoll, EPOLL_CTL_ADD, daemon_fd, &event);
  event.data.fd = wake_fd;
  epoll_ctl(epoll, EPOLL_CTL_ADD, wake_fd, &event);
  if (argc > 4) {
    pthread_t thread;
    log_fd = open(argv[4], O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
    if (log_fd < 0 || pthread_create(&thread, NULL, commit, NULL)) fail(argv[4]);
  }
  for (;;) {
    struct epoll_event events[4];
    MHD_UNSIGNED_LONG_LONG milliseconds;
    int timeout = 1000;
    if (!waiting && MHD_get_timeout(daemon, &milliseconds) == MHD_YES && milliseconds < 1000)
      timeout = (int)milliseconds;
    int count = epoll_wait(epoll, events, 4, timeout);
    for (int i = 0; i < count; i++) {
      uint64_t value;
      if (events[i].data.fd == wake_fd && read(wake_fd, &value, sizeof value) < 0) continue;
    }
    MHD_run_wait(daemon, 0);
    // Answers queued in this run are written in the next.
    MHD_run_wait(daemon, 0);
  }
}

// Reads event streams, up to ten thousand in one thread, checks each byte and measures.
//
//   streams idle PORT COUNT TARGET…
//       opens COUNT streams of the targets in turn, in which {} stands for the stream's number, and keeps them until a
//       line comes; no event may come
//   streams fanout PORT COUNT TIMES
//       opens COUNT streams of everything that is created and, once a line comes, creates so many timers, the next when
//       every stream has the event of the last; prints p50 and p99 of the time from sending the create to the event's
//       arrival on a stream, medians of TIMES, the worst p99, and the longest time of all, in milliseconds
//   streams spread PORT TIMERS FIRES [WATCHERS STALLED]
//       opens a stream of the fires of each timer dog-0, dog-1, …, WATCHERS streams of all fires, and STALLED that are
//       never read; prints p50, p99 and the most of the milliseconds from a fire's decision to its arrival once FIRES
//       of every timer have come, each stream having got each of its events once
//   streams replay PORT READERS ndjson|sse FIRED
//       reads all events from the oldest on READERS streams at once, FIRED of them fires; prints how many events came
//       in all, and in how many seconds
//   streams halt PORT FIRED
//       the same with one reader, who stops at a tenth, prints "halted", and reads on once a line comes
//
// All but replay and halt print "open" when every stream's head has come. Streams are NDJSON and SSE by turns. At the
// end of each line of figures stand the CPU seconds that this process took meanwhile, and how much of a core that was
// in percent. Source addresses change every 4000 streams, since the server bounds the connections of one address.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "stream.h"

enum { STREAMS_AN_ADDRESS = 4000, HEADS_AT_ONCE = 256, PATIENCE_MS = 20000 };
// What the kernel holds for a stream that is not read, and how much a replay's reader wants to be woken for.
enum { STALLED_BUFFER = 4096, READ_AT_LEAST = 65536 };
enum { STDIN = ~0u };

typedef void (*show_event)(struct stream *, const struct event *);

static int port, epoll;
static struct stream *streams;
static int count, heads, ended;
// Whether an answer may end, and whether a line came.
static int may_end, has_line;

// --- Time

static long clock_us(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec * 1000000L + time.tv_nsec / 1000;
}

static long now_us(void) { return clock_us(CLOCK_MONOTONIC); }

static long started_us, cpu_started_us;

static void start_clock(void) {
  started_us = now_us();
  cpu_started_us = clock_us(CLOCK_PROCESS_CPUTIME_ID);
}

// Ends a line of figures.
static void print_cost(void) {
  double wall = (double)(now_us() - started_us), cpu = (double)(clock_us(CLOCK_PROCESS_CPUTIME_ID) - cpu_started_us);
  printf(" %.2f %.0f\n", cpu / 1e6, 100 * cpu / wall);
  fflush(stdout);
}

static int compare(const void *left, const void *right) {
  long a = *(const long *)left, b = *(const long *)right;
  return a < b ? -1 : a > b;
}

// Of sorted times.
static double percentile_ms(const long *times_us, long size, int percent) {
  return (double)times_us[(size - 1) * percent / 100] / 1e3;
}

// --- Reading

static void watch(int fd, unsigned index) {
  struct epoll_event event = {.events = EPOLLIN, .data.u32 = index};
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event)) give_up("epoll: %m");
}

static void read_ready(struct stream *stream, show_event show) {
  int was_head = stream->place == HEAD;
  if (!stream_read(stream, show)) {
    if (!may_end) give_up("a stream ended after %ld events", stream->count);
    ended++;
  }
  heads += was_head && stream->place != HEAD;
}

// Waits until something has come, and reads it. Something must, in PATIENCE_MS: a heartbeat at the least.
static void read_some(show_event show) {
  struct epoll_event events[512];
  int ready = epoll_wait(epoll, events, 512, PATIENCE_MS);
  if (ready <= 0) give_up("nothing came for %d s", PATIENCE_MS / 1000);
  for (int i = 0; i < ready; i++) {
    if (events[i].data.u32 == STDIN) {
      has_line = 1;
    } else {
      read_ready(&streams[events[i].data.u32], show);
    }
  }
}

// Reads until `*value` is `target`; events that matter must go on coming.
static void read_until(const long *value, long target, show_event show) {
  long seen = *value, seen_us = now_us();
  while (*value < target) {
    read_some(show);
    if (*value != seen) {
      seen = *value;
      seen_us = now_us();
    } else if (now_us() - seen_us > PATIENCE_MS * 1000L) {
      give_up("%ld of %ld came, and no more for %d s", seen, target, PATIENCE_MS / 1000);
    }
  }
}

static void say(const char *word) {
  printf("%s\n", word);
  fflush(stdout);
}

// Reads streams until a line comes.
static void read_until_line(show_event show) {
  char line[80];
  watch(STDIN_FILENO, STDIN);
  while (!has_line) read_some(show);
  if (!fgets(line, sizeof line, stdin)) exit(1);
  epoll_ctl(epoll, EPOLL_CTL_DEL, STDIN_FILENO, NULL);
  has_line = 0;
}

static void refuse(struct stream *stream, const struct event *event) {
  (void)stream;
  give_up("an event that nobody is to get: %.*s", (int)event->size, event->text);
}

// --- Opening

// Makes room for so many streams.
static void prepare(int most) {
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  if (files.rlim_max < (rlim_t)most + 16) give_up("only %lu files may be open", (unsigned long)files.rlim_max);
  streams = calloc((size_t)most, sizeof *streams);
  epoll = epoll_create1(EPOLL_CLOEXEC);
}

// Opens one more stream of `target`, in which {} stands for `number`.
static void open_one(const char *target, int number, enum format format, int receive_buffer) {
  char text[512];
  const char *braces = strstr(target, "{}");
  if (braces) {
    snprintf(text, sizeof text, "%.*s%d%s", (int)(braces - target), target, number, braces + 2);
  } else {
    snprintf(text, sizeof text, "%s", target);
  }
  stream_open(&streams[count], port, 1 + count / STREAMS_AN_ADDRESS, text, format, receive_buffer);
  watch(streams[count].fd, (unsigned)count);
  count++;
}

// Opens `more` streams of the targets by turns, a bounded number of answers outstanding.
static void open_many(char **targets, int target_count, int more, int receive_buffer) {
  for (int i = 0; i < more; i++) {
    open_one(targets[i % target_count], i, i / target_count % 2 ? SSE : NDJSON, receive_buffer);
    while (count - heads >= HEADS_AT_ONCE) read_some(refuse);
  }
  while (heads < count) read_some(refuse);
}

static void open_all(char *target, int more, int receive_buffer) { open_many(&target, 1, more, receive_buffer); }

// --- Modes

static int run_idle(int number, char **targets, int target_count) {
  prepare(number);
  open_many(targets, target_count, number, 0);
  say("open");
  read_until_line(refuse);
  return 0;
}

static long arrived, sent_us;

static void take_created(struct stream *stream, const struct event *event) {
  if (!event_is(event, "created") || stream->time_us) refuse(stream, event);
  stream->time_us = now_us() - sent_us + 1;
  arrived++;
}

// Reads the whole answer to a create.
static void read_created(int fd) {
  static char bytes[8192];
  size_t size = 0;
  for (;;) {
    ssize_t got = recv(fd, bytes + size, sizeof bytes - 1 - size, 0);
    if (got <= 0) give_up("the create was not answered: %m");
    size += (size_t)got;
    bytes[size] = 0;
    const char *end = strstr(bytes, "\r\n\r\n"), *length = strcasestr(bytes, "\r\ncontent-length: ");
    if (!end) continue;
    if (strncmp(bytes, "HTTP/1.1 201 ", 13) || !length || length > end) give_up("the create was refused: %s", bytes);
    if (size == (size_t)(end + 4 - bytes) + strtoul(length + 18, NULL, 10)) return;
  }
}

static int run_fanout(int number, int times) {
  static const char post[] =
      "POST /v1/timers HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 14\r\n\r\n"
      "{\"after\":\"1h\"}";
  long *reached = calloc((size_t)number, sizeof *reached), *p50 = calloc((size_t)times, sizeof *p50);
  long *p99 = calloc((size_t)times, sizeof *p99), longest = 0;
  prepare(number);
  open_all("/v1/events?types=created", number, 0);
  say("open");
  read_until_line(refuse);
  int creator = dial(port, 0, 0);
  start_clock();
  for (int round = 0; round < times; round++) {
    for (int i = 0; i < number; i++) streams[i].time_us = 0;
    arrived = 0;
    sent_us = now_us();
    send_all(creator, post, sizeof post - 1);
    read_until(&arrived, number, take_created);
    read_created(creator);
    for (int i = 0; i < number; i++) reached[i] = streams[i].time_us;
    qsort(reached, (size_t)number, sizeof *reached, compare);
    p50[round] = reached[(number - 1) / 2];
    p99[round] = reached[(number - 1) * 99L / 100];
    if (reached[number - 1] > longest) longest = reached[number - 1];
  }
  qsort(p50, (size_t)times, sizeof *p50, compare);
  qsort(p99, (size_t)times, sizeof *p99, compare);
  printf("%.1f %.1f %.1f %.1f", percentile_ms(p50, times, 50), percentile_ms(p99, times, 50),
         percentile_ms(p99, times, 100), (double)longest / 1e3);
  print_cost();
  return 0;
}

static long *latencies_us, latency_count;
static long single_count, fires_a_timer;

static void take_fired(struct stream *stream, const struct event *event) {
  int is_single = stream - streams < single_count;
  long due = is_single ? fires_a_timer : fires_a_timer * single_count;
  if (!event_is(event, "fired") || stream->count > due) refuse(stream, event);
  latencies_us[latency_count++] = clock_us(CLOCK_REALTIME) - event_decided_us(event);
  if (!is_single) return;
  long fire = event_fire(event);
  if (stream->tally && fire != stream->tally + 1)
    give_up("fire %ld follows %ld: %.*s", fire, stream->tally, (int)event->size, event->text);
  stream->tally = fire;
}

static int run_spread(int timers, int fires, int watchers, int stalled) {
  long due = (long)timers * fires * (1 + watchers);
  latencies_us = calloc((size_t)due, sizeof *latencies_us);
  single_count = timers;
  fires_a_timer = fires;
  prepare(timers + watchers + stalled);
  open_all("/v1/timers/dog-{}/events?types=fired", timers, 0);
  open_all("/v1/events?types=fired", watchers, 0);
  open_all("/v1/events?types=fired", stalled, STALLED_BUFFER);
  for (int i = count - stalled; i < count; i++) epoll_ctl(epoll, EPOLL_CTL_DEL, streams[i].fd, NULL);
  say("open");
  start_clock();
  read_until(&latency_count, due, take_fired);
  qsort(latencies_us, (size_t)due, sizeof *latencies_us, compare);
  printf("%.2f %.2f %.2f", percentile_ms(latencies_us, due, 50), percentile_ms(latencies_us, due, 99),
         percentile_ms(latencies_us, due, 100));
  print_cost();
  return 0;
}

static void tally_fired(struct stream *stream, const struct event *event) {
  if (event_is(event, "fired")) stream->tally++;
}

static void open_replays(int readers, enum format format) {
  prepare(readers);
  may_end = 1;
  start_clock();
  for (int i = 0; i < readers; i++) {
    int least = READ_AT_LEAST;
    open_one("/v1/events?since=0&follow=false", i, format, 0);
    setsockopt(streams[i].fd, SOL_SOCKET, SO_RCVLOWAT, &least, sizeof least);
  }
}

static int finish_replays(long fired) {
  long events = 0;
  while (ended < count) read_some(tally_fired);
  double seconds = (double)(now_us() - started_us) / 1e6;
  for (int i = 0; i < count; i++) {
    if (streams[i].tally != fired) give_up("%ld fires instead of %ld", streams[i].tally, fired);
    events += streams[i].count;
  }
  printf("%ld %.3f", events, seconds);
  print_cost();
  return 0;
}

static int run_replay(int readers, const char *format, long fired) {
  open_replays(readers, strcmp(format, "sse") ? NDJSON : SSE);
  return finish_replays(fired);
}

static int run_halt(long fired) {
  open_replays(1, NDJSON);
  while (streams[0].tally < fired / 10) read_some(tally_fired);
  epoll_ctl(epoll, EPOLL_CTL_DEL, streams[0].fd, NULL);
  say("halted");
  char line[80];
  if (!fgets(line, sizeof line, stdin)) return 1;
  watch(streams[0].fd, 0);
  return finish_replays(fired);
}

int main(int argc, char **argv) {
  if (argc < 4) return 64;
  const char *mode = argv[1];
  port = atoi(argv[2]);
  int number = atoi(argv[3]);
  if (!strcmp(mode, "idle") && argc > 4) return run_idle(number, argv + 4, argc - 4);
  if (!strcmp(mode, "fanout") && argc == 5) return run_fanout(number, atoi(argv[4]));
  if (!strcmp(mode, "spread") && argc == 5) return run_spread(number, atoi(argv[4]), 0, 0);
  if (!strcmp(mode, "spread") && argc == 7)
    return run_spread(number, atoi(argv[4]), atoi(argv[5]), atoi(argv[6]));
  if (!strcmp(mode, "replay") && argc == 6) return run_replay(number, argv[4], atol(argv[5]));
  if (!strcmp(mode, "halt") && argc == 4) return run_halt(number);
  return 64;
}

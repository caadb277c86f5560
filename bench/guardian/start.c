/*
 * Starts the same image through an init (or directly) and through the guardian, alternately, from one small process:
 *
 *   start ROUNDS DIRECTORY STAMP GUARDIAN [INIT...]     one line per start: NAME LAUNCH_NS END_NS
 *   start idle DIRECTORY GUARDIAN SECONDS               resident kB and wakeups of a waiting guardian
 *
 * LAUNCH_NS runs from before the fork to the first instruction of the image. The receipt slots are reserved before the
 * first round. `guardian` finds the gate byte behind its request, so that it does all that it does and waits for nobody,
 * like the inits; `handshake` answers first and gets the gate byte then, which adds two changes of process. END_NS runs
 * from there to the end of the outermost process, which for the guardian includes the synced exit receipt.
 */
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "frame.h"

static long long stamp_of(int fd) {
  char text[64] = {0};
  size_t have = 0;
  for (ssize_t got; (got = read(fd, text + have, sizeof text - 1 - have)) > 0;) have += (size_t)got;
  if (have == 0) {
    fputs("the image did not run\n", stderr);
    exit(1);
  }
  return atoll(text);
}

static void report(const char *name, long long begin, long long stamp, pid_t pid) {
  int status;
  waitpid(pid, &status, 0);
  long long end = now_ns();
  if (status != 0) fprintf(stderr, "%s ended with wait status %d\n", name, status);
  printf("%s %lld %lld\n", name, stamp - begin, end - stamp);
}

static void measure_plain(const char *name, char **argv) {
  int out[2];
  if (pipe2(out, O_CLOEXEC) != 0) fail("pipe");
  long long begin = now_ns();
  pid_t pid = start(argv, out[1], -1);
  close(out[1]);
  long long stamp = stamp_of(out[0]);
  close(out[0]);
  report(name, begin, stamp, pid);
}

static void send_request(int link, const struct frame *f, bool gate) {
  if (write(link, f->bytes, f->used) != (ssize_t)f->used) fail("frame");
  if (gate && write(link, "G", 1) != 1) fail("gate");
}

static void shake_hands(int link) {
  char line[1024];
  ssize_t got = read(link, line, sizeof line);
  if (got <= 0 || strncmp(line, "{\"event\":\"ready\"", 16) != 0) {
    fprintf(stderr, "no handshake: %.*s\n", (int)(got < 0 ? 0 : got), line);
    exit(1);
  }
  if (write(link, "G", 1) != 1) fail("gate");
}

static void measure_guardian(char *guardian, const struct frame *f, bool handshake) {
  int out[2], link[2];
  char *argv[] = {guardian, "run", NULL};
  if (pipe2(out, O_CLOEXEC) != 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, link) != 0) fail("pipe");
  long long begin = now_ns();
  pid_t pid = start(argv, out[1], link[1]);
  close(out[1]);
  close(link[1]);
  send_request(link[0], f, !handshake);
  if (handshake) shake_hands(link[0]);
  long long stamp = stamp_of(out[0]);
  close(out[0]);
  report(handshake ? "handshake" : "guardian", begin, stamp, pid);
  close(link[0]);
}

static FILE *open_proc(pid_t pid, const char *leaf) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, leaf);
  FILE *file = fopen(path, "r");
  if (file == NULL) fail(path);
  return file;
}

static void print_fields(pid_t pid, const char *leaf, const char *const *fields) {
  char line[256];
  FILE *file = open_proc(pid, leaf);
  while (fgets(line, sizeof line, file) != NULL) {
    for (int at = 0; fields[at] != NULL; at++) {
      size_t length = strlen(fields[at]);
      if (strncmp(line, fields[at], length) == 0 && line[length] == ':') fputs(line, stdout);
    }
  }
  fclose(file);
}

static pid_t first_child(pid_t pid) {
  char leaf[48];
  int child = 0;
  snprintf(leaf, sizeof leaf, "task/%d/children", (int)pid);
  FILE *file = open_proc(pid, leaf);
  if (fscanf(file, "%d", &child) != 1) child = 0;
  fclose(file);
  return child;
}

/* The one that was started, which waits, and its fork, which works. */
static void print_status(pid_t pid) {
  const pid_t both[] = {pid, first_child(pid)};
  for (int at = 0; at < 2; at++) {
    print_fields(both[at], "status", (const char *const[]){"Name", "VmRSS", "RssAnon", "voluntary_ctxt_switches", NULL});
    print_fields(both[at], "smaps_rollup", (const char *const[]){"Pss", NULL});
  }
}

static int idle(const char *directory, char *guardian, int seconds) {
  static struct frame f;
  int link[2];
  char *argv[] = {guardian, "run", NULL};
  make_frame(&f, directory);
  add(&f, "arg=/bin/sleep");
  add(&f, "arg=%d", seconds + 1);
  seal_frame(&f);
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, link) != 0) fail("socketpair");
  pid_t pid = start(argv, 1, link[1]);
  close(link[1]);
  send_request(link[0], &f, true);
  usleep(200000);
  print_status(pid);
  sleep((unsigned)seconds);
  print_status(pid);
  waitpid(pid, NULL, 0);
  return 0;
}

/* The requests of all rounds, two each: reserving syncs, and a commit of the journal that is under way delays others. */
static struct frame *make_requests(int count, const char *parent, const char *image) {
  char directory[4096];
  struct frame *all = calloc((size_t)count, sizeof *all);
  if (all == NULL) fail("calloc");
  for (int at = 0; at < count; at++) {
    snprintf(directory, sizeof directory, "%s/%d", parent, at);
    make_frame(&all[at], directory);
    add(&all[at], "arg=%s", image);
    seal_frame(&all[at]);
  }
  return all;
}

int main(int argc, char **argv) {
  if (argc == 5 && strcmp(argv[1], "idle") == 0) return idle(argv[2], argv[3], atoi(argv[4]));
  if (argc < 5) return 2;
  int rounds = atoi(argv[1]);
  struct frame *requests = make_requests(2 * rounds, argv[2], argv[3]);
  for (int round = 0; round < rounds; round++) {
    char *direct[] = {argv[3], NULL};
    measure_plain("direct", direct);
    for (int at = 5; at < argc; at++) {
      char *init[] = {argv[at], "-s", "--", argv[3], NULL};
      measure_plain(strrchr(argv[at], '/') + 1, init);
    }
    measure_guardian(argv[4], &requests[2 * round], false);
    measure_guardian(argv[4], &requests[2 * round + 1], true);
  }
  return 0;
}

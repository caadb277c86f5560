/*
 * How long a tree takes to end, from the first signal to the proof that nobody is left:
 *
 *   drain ROUNDS COUNT DIRECTORY GUARDIAN [CGROUP]      one line per round: NAME NS
 *   drain tree COUNT                                    the tree: a root and COUNT children that wait
 *
 * `plain` kills every process by its number and reaps until ECHILD: no freeze, no check of who is who, no receipt. It is
 * the child subreaper too, and is told the numbers by one reading of the root's children. `guardian` is sent one request
 * without a grace, and has ended the tree when it says so; the receipt is durable by then.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "frame.h"

static int tree(int count) {
  for (int at = 0; at < count; at++) {
    if (fork() == 0) {
      close(1);
      for (;;) pause();
    }
  }
  if (write(1, "r", 1) != 1) return 1;
  close(1);
  for (;;) pause();
}

static void await_tree(int fd) {
  char byte;
  if (read(fd, &byte, 1) != 1) fail("the tree did not grow");
  close(fd);
}

/* The whole list in one reading, as a caller that has just made the tree would have it. */
static size_t children_of(pid_t pid, pid_t *list, size_t room) {
  char path[64];
  size_t count = 0;
  snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
  FILE *file = fopen(path, "r");
  if (file == NULL) fail(path);
  while (count < room && fscanf(file, "%d", &list[count]) == 1) count++;
  fclose(file);
  return count;
}

static void measure_plain(char **argv, int count) {
  int out[2];
  if (pipe2(out, O_CLOEXEC) != 0) fail("pipe");
  pid_t root = start(argv, out[1], -1);
  close(out[1]);
  await_tree(out[0]);
  pid_t *list = calloc((size_t)count + 1, sizeof *list);
  if (list == NULL) fail("calloc");
  long long begin = now_ns();
  size_t found = children_of(root, list, (size_t)count + 1);
  kill(root, SIGKILL);
  for (size_t at = 0; at < found; at++) kill(list[at], SIGKILL);
  while (wait(NULL) > 0) continue;
  printf("plain %lld\n", now_ns() - begin);
  if (errno != ECHILD || found != (size_t)count) fail("the tree was not ended");
  free(list);
}

static int control(const char *directory) {
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (snprintf(name.sun_path, sizeof name.sun_path, "%s/ctl.sock", directory) >= (int)sizeof name.sun_path) fail("path");
  if (fd < 0 || connect(fd, (struct sockaddr *)&name, sizeof name) != 0) fail("connect");
  return fd;
}

/* Reads on until the guardian has said that everything is over. */
static void await_settled(int fd) {
  static char text[1 << 20];
  size_t have = 0;
  for (ssize_t got; (got = read(fd, text + have, sizeof text - 1 - have)) > 0;) {
    have += (size_t)got;
    text[have] = '\0';
    if (strstr(text, "\"settled\",\"exit\":0") != NULL) return;
  }
  fprintf(stderr, "not settled: %s\n", text);
  exit(1);
}

struct order {
  char *guardian, *tree, *count;
  const char *directory, *cgroup, *name;
};

static void measure_guardian(const struct order *order) {
  static struct frame f;
  static const char request[] = "terminate 0 60000\n";
  char *argv[] = {order->guardian, "run", NULL};
  int out[2], link[2];
  make_frame(&f, order->directory);
  if (order->cgroup != NULL) add(&f, "cgroup=%s", order->cgroup);
  add(&f, "arg=%s", order->tree);
  add(&f, "arg=tree");
  add(&f, "arg=%s", order->count);
  seal_frame(&f);
  if (pipe2(out, O_CLOEXEC) != 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, link) != 0) fail("pipe");
  pid_t pid = start(argv, out[1], link[1]);
  close(out[1]);
  close(link[1]);
  if (write(link[0], f.bytes, f.used) != (ssize_t)f.used || write(link[0], "G", 1) != 1) fail("frame");
  await_tree(out[0]);
  int fd = control(order->directory);
  long long begin = now_ns();
  if (write(fd, request, sizeof request - 1) != (ssize_t)sizeof request - 1) fail("terminate");
  await_settled(fd);
  printf("%s %lld\n", order->name, now_ns() - begin);
  close(fd);
  close(link[0]);
  waitpid(pid, NULL, 0);
}

int main(int argc, char **argv) {
  if (argc == 3 && strcmp(argv[1], "tree") == 0) return tree(atoi(argv[2]));
  if (argc < 5) return 2;
  char directory[4096], self[] = "/proc/self/exe";
  char *plain[] = {self, "tree", argv[2], NULL};
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) fail("subreaper");
  for (int round = 0; round < atoi(argv[1]); round++) {
    struct order order = {.guardian = argv[4], .tree = argv[0], .count = argv[2], .directory = directory};
    measure_plain(plain, atoi(argv[2]));
    order.name = "sweeps";
    snprintf(directory, sizeof directory, "%s/s%d", argv[3], round);
    measure_guardian(&order);
    if (argc < 6) continue;
    order.name = "cgroup";
    order.cgroup = argv[5];
    snprintf(directory, sizeof directory, "%s/c%d", argv[3], round);
    measure_guardian(&order);
  }
  return 0;
}

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guardian.h"
#include "kernel.h"

#ifndef CUSTODY_BUILD
#define CUSTODY_BUILD "unknown"
#endif

/* Zeroed memory that is only touched where it is used, and that a fork sees as well. */
static struct guardian *shared_state(void) {
  void *at = mmap(NULL, sizeof(struct guardian), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) _exit(RC_KERNEL);
  return at;
}

static void start_state(struct guardian *g) {
  g->link = LINK_FD;
  g->dir = g->signals = g->listener = g->up = g->child_pidfd = g->gate = g->exec_error = g->terminal = -1;
  g->cgroup_parent = g->cgroup = -1;
  g->outcome = (struct outcome){.code = ABSENT, .signal = ABSENT, .error = ABSENT};
  g->drain.witnessed = -1;
  g->worker = getpid();
  for (int at = 0; at < CLIENTS; at++) g->client[at].fd = g->client[at].pidfd = g->client[at].worker_fd = -1;
}

/* A launcher leaks what it forgot to mark close-on-exec. Missing streams are filled, or a later file would become one. */
static void close_the_rest(struct guardian *g) {
  struct stat node;
#ifndef CUSTODY_WITHOUT_CLOSE
  if (close_from(LINK_FD + 1) != 0) refuse(g, RC_KERNEL, "closeRange", errno);
#endif
  if (fstat(LINK_FD, &node) != 0 || !S_ISSOCK(node.st_mode)) _exit(RC_BAD_SPEC);
  if (fcntl(LINK_FD, F_SETFD, FD_CLOEXEC) != 0) _exit(RC_BAD_SPEC);
  for (int fd = 0; fd <= 2; fd++) {
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd) refuse(g, RC_KERNEL, "devNull", errno);
  }
}

/*
 * All signals are blocked for good; five are read from a descriptor. An inherited "ignore" of SIGCHLD would survive
 * exec and make the kernel reap our children, statuses and all.
 */
static void take_signals(struct guardian *g) {
  struct sigaction standard = {.sa_handler = SIG_DFL};
  sigset_t all, ours;
  sigfillset(&all);
  sigemptyset(&ours);
  sigaddset(&ours, SIGCHLD);
  sigaddset(&ours, SIGTERM);
  sigaddset(&ours, SIGINT);
  sigaddset(&ours, SIGCONT);
  sigaddset(&ours, SIGHUP);
  if (sigprocmask(SIG_SETMASK, &all, NULL) != 0) refuse(g, RC_KERNEL, "signalMask", errno);
#ifndef CUSTODY_WITHOUT_SIGCHLD_DEFAULT
  if (sigaction(SIGCHLD, &standard, NULL) != 0) refuse(g, RC_KERNEL, "signalDefault", errno);
#else
  (void)standard;
#endif
  g->signals = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
  if (g->signals < 0) refuse(g, RC_KERNEL, "signalfd", errno);
}

static int run(void) {
  struct guardian *g = shared_state();
  start_state(g);
  close_the_rest(g);
  step("begin");
  take_signals(g);
  umask(077);
  become_subreaper(g);
  spec_read(g);
  terminal_find(g);
  if (g->mode != TERMINAL_SHARED) setsid(); /* fails when the launcher has already given us a session of our own */
  step("spec");
  if (!context_read(g)) refuse(g, RC_KERNEL, "proc", errno);
  slots_open(g);
  control_open(g);
  step("slots");
  enrol_with_enclosing(g);
  step("enrolled");
  g->hides_pids = proc_hides_pids();
  witness_begin(g);
  if (!g->launched) launch(g);
  return guard(g);
}

static int version(void) {
  static const char line[] = "{\"name\":\"custody-guardian\",\"protocol\":1,\"build\":\"" CUSTODY_BUILD "\"}\n";
  return write(1, line, sizeof line - 1) == sizeof line - 1 ? 0 : 1;
}

static int usage(void) {
  static const char text[] =
      "usage: custody-guardian run            (started by custody, with the request on descriptor 3)\n"
      "       custody-guardian signal PID START UID SIGNAL\n"
      "       custody-guardian peer           (of the socket on descriptor 3)\n"
      "       custody-guardian version\n";
  ssize_t ignored = write(2, text, sizeof text - 1);
  (void)ignored;
  return RC_USAGE;
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "run") == 0) return run();
  if (argc == 6 && strcmp(argv[1], "signal") == 0) return signal_command(argv + 2);
  if (argc == 2 && strcmp(argv[1], "peer") == 0) return peer_command();
  if (argc == 2 && strcmp(argv[1], "version") == 0) return version();
  return usage();
}

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guardian.h"
#include "kernel.h"

enum { GATE_FD = 3, ERROR_FD = 4, OOM_RAISE = 200, OOM_MAX = 1000 };

enum { RC_GATE_CLOSED = 125, RC_CANNOT_EXEC = 126, RC_NOT_FOUND = 127 };

/* When memory runs out, the workload must go before the only witness of its end. Best effort: the score is advice. */
static void raise_oom_score(void) {
  char buffer[16];
  int fd = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
  if (fd < 0) return;
  ssize_t got = read(fd, buffer, sizeof buffer - 1);
  bool negative = got > 0 && buffer[0] == '-';
  uint64_t score = 0;
  for (ssize_t at = negative; at < got && buffer[at] >= '0' && buffer[at] <= '9'; at++) {
    score = score * 10 + (uint64_t)(buffer[at] - '0');
  }
  int64_t raised = (negative ? -(int64_t)score : (int64_t)score) + OOM_RAISE;
  struct text line = TEXT_OVER(buffer);
  text_signed(&line, raised > OOM_MAX ? OOM_MAX : raised);
  ssize_t ignored = pwrite(fd, line.at, line.used, 0);
  (void)ignored;
  close(fd);
}

/* Tells the guardian an error number; 0 is good news. True if that was the news and has been told. */
static bool say(int fd, int error) { return write(fd, &error, sizeof error) == sizeof error && error == 0; }

_Noreturn static void fail(struct guardian *g, int error, int code) {
  g->exec_errno = error;
  say(ERROR_FD, error);
  _exit(code);
}

/* Ignored signals and blocked ones survive exec; the workload starts as from a fresh login. */
static void default_signals(void) {
  struct sigaction standard = {.sa_handler = SIG_DFL};
  sigset_t none;
  for (int number = 1; number < NSIG; number++) sigaction(number, &standard, NULL);
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Leaves the streams, the gate and the error pipe. The copy of the link must go: it would hide the guardian's death. */
static void keep_only(int gate, int error) {
  if (dup3(gate, GATE_FD, O_CLOEXEC) < 0 || dup3(error, ERROR_FD, O_CLOEXEC) < 0) _exit(RC_GATE_CLOSED);
#ifndef CUSTODY_WITHOUT_CLOSE
  close_from(ERROR_FD + 1);
#endif
}

/*
 * The forked child. It waits for exactly the gate byte; the end of the gate pipe means that the guardian has died or
 * given up, and then the image must never run.
 */
_Noreturn void become_workload(struct guardian *g, const struct gated *its) {
  const struct spec *spec = &its->spec;
  raise_oom_score();
  if (!g->hides_pids) prctl(PR_SET_DUMPABLE, 0); /* until exec: the receipts' nonces are in this memory */
  if (g->mode == TERMINAL_NONE) setsid();
  else if (!say(its->error, terminal_take(g))) _exit(RC_GATE_CLOSED);
  keep_only(its->gate, its->error);
#ifndef CUSTODY_WITHOUT_GATE
  char byte = 0;
  if (read(GATE_FD, &byte, 1) != 1 || byte != 'G') _exit(RC_GATE_CLOSED);
#endif
  umask((mode_t)spec->umask);
  if (chdir(spec->cwd) != 0) fail(g, errno, RC_CANNOT_EXEC);
  default_signals();
  environ = spec->env;
  execvp(spec->argv[0], spec->argv);
  fail(g, errno, errno == ENOENT ? RC_NOT_FOUND : RC_CANNOT_EXEC);
}

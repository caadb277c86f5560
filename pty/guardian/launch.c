#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "guardian.h"
#include "kernel.h"

static void say_ready(struct guardian *g) {
  char buffer[512];
  struct text line = TEXT_OVER(buffer);
  text_add(&line, "{\"event\":\"ready\",\"protocol\":1,\"guardian\":");
  identity_text(&line, &g->self);
  text_add(&line, ",\"workload\":");
  identity_text(&line, &g->child);
  text_add(&line, ",\"boot\":\"");
  text_add(&line, g->boot);
  text_add(&line, "\",\"pidns\":\"");
  text_unsigned(&line, g->pidns);
  text_add(&line, "\",\"timens\":\"");
  text_unsigned(&line, g->timens);
  text_add(&line, "\",\"uid\":");
  text_unsigned(&line, g->uid);
  text_add(&line, "}\n");
  link_event(g, &line);
}

/* The workload's standard streams are its own: a guardian that kept them would hold pipes open past the last writer. */
static void release_stdio(struct guardian *g) {
  int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) refuse(g, RC_KERNEL, "devNull", errno);
  for (int fd = 0; fd <= 2; fd++) {
    if (dup2(null, fd) != fd) refuse(g, RC_KERNEL, "devNull", errno);
  }
  close(null);
}

static void fork_gated(struct guardian *g) {
  int gate[2], error[2];
  if (pipe2(gate, O_CLOEXEC) != 0 || pipe2(error, O_CLOEXEC) != 0) refuse(g, RC_KERNEL, "pipe", errno);
  const struct gated its = {.spec = g->spec, .gate = gate[0], .error = error[1]};
  pid_t pid = fork();
  if (pid < 0) refuse(g, RC_KERNEL, "fork", errno);
  if (pid == 0) become_workload(g, &its);
  close(gate[0]);
  close(error[1]);
  g->child.pid = pid;
  g->gate = gate[1];
  g->exec_error = error[0];
}

/*
 * Forks the child that waits behind the gate, learns its identity, publishes the start receipt and reports both.
 * Only the parent can reap the child, so nothing here can meet a reused pid.
 */
void launch(struct guardian *g) {
  fork_gated(g);
  step("forked");
  terminal_await(g);
  /* After the fork: a child that is not dumpable could not raise its own oom_score_adj as an ordinary user. */
  if (!g->hides_pids) prctl(PR_SET_DUMPABLE, 0);
  g->child_pidfd = open_pidfd(g->child.pid);
  if (g->child_pidfd < 0) refuse(g, RC_KERNEL, "pidfd", errno);
  if (!identify(g->child.pid, g->child_pidfd, &g->child)) refuse(g, RC_KERNEL, "identity", errno);
  cgroup_enter(g);
  release_stdio(g);
  g->launched = true;
  if (!receipt_start(g)) refuse(g, RC_NO_SLOT, "startReceipt", errno);
  step("started");
  g->phase = GATED;
  g->gate_until = now_ms() + 2 * (int64_t)g->spec.handshake_ms;
  say_ready(g);
  step("ready");
}

/* From the first byte on, the work counts as started, whatever becomes of the delivery. */
void gate_open(struct guardian *g) {
  step("gate");
  g->phase = RELEASING;
  job_begin(g);
  step("releasing");
  gate_pass(g);
  step("released");
  spec_forget(g);
}

/* As long as we have our end of it the child may still be waiting; more than the one byte that it reads does no harm. */
void gate_pass(struct guardian *g) {
  if (g->gate < 0) return;
  ssize_t ignored = write(g->gate, "G", 1); /* a child that is gone is found by the wait loop */
  (void)ignored;
  let_go(&g->gate);
}

/* The gate stays closed for ever: the child has run nothing and is killed where it waits. */
void gate_abandon(struct guardian *g, const char *reason) {
  if (g->phase != GATED || g->abandoned != NULL) return;
  g->abandoned = reason;
  signal_pidfd(g->child_pidfd, SIGKILL);
}

static void say_exec(struct guardian *g, int error) {
  char buffer[96];
  struct text line = TEXT_OVER(buffer);
  if (error == 0) {
    text_add(&line, "{\"event\":\"released\"}\n");
  } else {
    text_add(&line, "{\"event\":\"execFailed\",\"errno\":");
    text_signed(&line, error);
    text_add(&line, "}\n");
  }
  link_event(g, &line);
}

/*
 * The pipe is close-on-exec in the child, and ends when the image has been executed or the child has said why not: the
 * reason stands in memory, where it outlives whoever reads the pipe. Afterwards the link has served, unless there is a
 * terminal of which the launcher will have to say that it has been read; until then, what the launcher does with its end
 * means nothing any more.
 */
void exec_result(struct guardian *g) {
  int ignored = 0;
  if (g->exec_error < 0) return;
  ssize_t got = read(g->exec_error, &ignored, sizeof ignored);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  step("execRead");
  if (g->exec_errno != 0) g->outcome.error = g->exec_errno;
  if (g->phase == RELEASING) {
    say_exec(g, g->exec_errno);
    g->phase = RUNNING;
    if (!terminal_is_ours(g)) let_go(&g->link);
  }
  let_go(&g->exec_error);
}

#include <errno.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "guardian.h"
#include "kernel.h"

/*
 * A worker can be lost between any two of its steps. Descriptors are known before they are used and forgotten before they
 * are closed, so what is known is open and what is not known is nobody's. A client is known by its descriptor; one that
 * was being written down or forgotten shows as one of the first three, which no client has.
 */
static void mend_clients(struct guardian *g) {
  for (int at = 0; at < CLIENTS; at++) {
    struct client *c = &g->client[at];
    if (c->lost_as > g->lost_nested) g->lost_nested = c->lost_as;
    if (c->lost_as != 0 || c->fd <= 2) *c = (struct client){.fd = -1};
    if (c->pidfd <= 2) c->pidfd = -1;
    if (c->worker_fd <= 2) c->worker_fd = -1;
  }
}

enum { KNOWN_MAX = 20 + SLOTS + 3 * CLIENTS };

static int ascending(const void *left, const void *right) { return *(const int *)left - *(const int *)right; }

static size_t known_descriptors(const struct guardian *g, int *known) {
  const int single[] = {0, 1, 2, g->link, g->dir, g->signals, g->listener, g->up, g->child_pidfd, g->gate, g->exec_error,
                        g->terminal, g->cgroup_parent, g->cgroup, g->drain.witnessed};
  size_t count = 0;
  for (size_t at = 0; at < sizeof single / sizeof *single; at++) known[count++] = single[at];
  for (int at = 0; at < SLOTS; at++) known[count++] = g->slot[at].fd;
  for (int at = 0; at < CLIENTS; at++) {
    known[count++] = g->client[at].fd;
    known[count++] = g->client[at].pidfd;
    known[count++] = g->client[at].worker_fd;
  }
  qsort(known, count, sizeof *known, ascending);
  return count;
}

/* What the worker had opened in passing. A connection among it would seem to be answered some day. */
static void close_unknown(const struct guardian *g) {
  int known[KNOWN_MAX];
  size_t count = known_descriptors(g, known);
  int next = 0;
  for (size_t at = 0; at < count; at++) {
    if (known[at] < next) continue;
    if (known[at] > next) close_between((unsigned)next, (unsigned)known[at] - 1);
    next = known[at] + 1;
  }
  close_from((unsigned)next);
}

/* Nothing has run, and nothing will: the child leaves when nobody is left who could open its gate. */
_Noreturn static void give_up(struct guardian *g) {
  let_go(&g->gate);
  await_children();
  g->child.pid = 0;
  refuse(g, RC_KERNEL, "witness", EOWNERDEAD);
}

/*
 * Before the gate byte is passed on the launch is given up, with receipts that say so: whether the launcher has sent it
 * is not known. A root that was about to be noted is noted anew; an end that was about to be told is told again.
 */
static void mend_phase(struct guardian *g) {
  switch (g->phase) {
    case GATED:
      if (g->abandoned == NULL) g->abandoned = "guardianKilled";
      signal_pidfd(g->child_pidfd, SIGKILL);
      break;
    case RELEASING: gate_pass(g); break;
    case RUNNING:
      let_go(&g->exec_error);
      if (!terminal_is_ours(g)) let_go(&g->link);
      break;
    case ROOT_ENDED:
    case LINGERING:
    case LEAVING: break;
  }
}

/* Called in the witness, which has been handed everything that the worker had. */
void take_over(struct guardian *g) {
  g->took_over = true;
  g->worker = getpid();
  prctl(PR_SET_NAME, "custody-guardian");
  mend_clients(g);
  if (g->drain.witnessed <= 2) g->drain.witnessed = -1;
  close_unknown(g);
  control_listen(g);
  /* The request was in memory of our own, which we gave back long ago. */
  g->spec.frame = NULL;
  g->spec.argv = g->spec.env = NULL;
  g->spec.dir = g->spec.cwd = g->spec.up = g->spec.cgroup = NULL;
  step("taking");
  if (!g->launched) give_up(g);
  receipt_start(g);
  reap_again(g);
  mend_phase(g);
  drain_inherit(g);
  if (g->passed != 0) raise(g->passed); /* blocked, and so read by the loop like any other */
}

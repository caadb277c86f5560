#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guardian.h"
#include "kernel.h"

/*
 * A guardian is two processes. The one that the launcher started, whose identity stands in every receipt, waits; its fork
 * works. They share the state and the table of descriptors, so that nothing the worker knows or holds is lost with it:
 *
 *   the worker is killed    its children, ended ones included, become the witness's, which is a subreaper as well; the
 *                           witness mends what the worker was in the middle of (mend.c) and works on
 *   the witness is killed   nothing of the tree was its own; the worker goes on and completes the receipts
 *
 * Whatever has to be done in more than one step is done in an order that lets the other one finish or repeat it.
 */

/* Forgotten first: a number that is closed and still known would soon be another descriptor's. */
void let_go(int *fd) {
  int was = *fd;
  *fd = -1;
  if (was >= 0) close(was);
}

/* Read back, because a filter may answer 0 without doing anything: then orphans would go to somebody else unseen. */
void become_subreaper(struct guardian *g) {
#ifndef CUSTODY_WITHOUT_SUBREAPER
  int set = 0;
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) refuse(g, RC_KERNEL, "subreaper", errno);
  if (prctl(PR_GET_CHILD_SUBREAPER, &set) != 0 || set != 1) refuse(g, RC_KERNEL, "subreaper", ENOTSUP);
#else
  (void)g;
#endif
}

#ifndef CUSTODY_WITHOUT_WITNESS
/*
 * The death of the witness continues the worker if it was stopped: a launcher that ends a guardian that does not answer
 * knows only of the witness, and the worker must see that its launcher has gone.
 */
static void work(struct guardian *g, pid_t witness) {
  g->worker = getpid();
  prctl(PR_SET_NAME, "custody-guardian");
  prctl(PR_SET_PDEATHSIG, SIGCONT);
  step_beside(witness);
  become_subreaper(g); /* is not inherited */
  enrol_worker(g);
  control_listen(g);
  step("worker");
}

/*
 * Whoever looks at the guardian that is recorded must see that nobody works, so we stop with the worker; whoever then
 * continues us continues both. A stop that is over by the time that we look is none.
 */
static void stop_along(pid_t worker, int worker_fd, bool was_continued) {
  siginfo_t info;
  memset(&info, 0, sizeof info);
  if (waitid(P_PID, (id_t)worker, &info, WSTOPPED | WNOHANG | __WALL) != 0 || info.si_pid == 0) return;
  if (!was_continued) raise(SIGSTOP);
  signal_pidfd(worker_fd, SIGCONT);
}

/* A termination that was asked of us is the worker's business, and ours again if that does not come to it. */
static void pass_on(struct guardian *g, pid_t worker, int worker_fd) {
  struct signalfd_siginfo got;
  bool was_continued = false;
  while (read(g->signals, &got, sizeof got) == sizeof got) {
    const int number = (int)got.ssi_signo;
    was_continued = was_continued || number == SIGCONT;
    if (number != SIGTERM && number != SIGINT) continue;
    g->passed = number;
    signal_pidfd(worker_fd, number);
  }
  stop_along(worker, worker_fd, was_continued);
}

/* Returns when the worker has been lost. There is no timer, and nothing of the tree wakes us. */
static void stand_by(struct guardian *g, pid_t worker, int worker_fd) {
  struct pollfd sources[] = {{.fd = g->signals, .events = POLLIN}, {.fd = worker_fd, .events = POLLIN}};
  siginfo_t info;
  while (sources[1].revents == 0) {
    if (poll(sources, 2, -1) > 0 && sources[1].revents == 0) pass_on(g, worker, worker_fd);
  }
  memset(&info, 0, sizeof info);
  if (waitid(P_PID, (id_t)worker, &info, WEXITED | __WALL) == 0 && info.si_code == CLD_EXITED) _exit(info.si_status);
}

#endif

/* The worker has been continued, or is done: so is a witness that is stopped. */
void witness_continue(const struct guardian *g) {
  struct proc_stat stat;
  if (getppid() == g->self.pid && proc_stat(g->self.pid, 0, &stat) && stat.state == 'T') {
    signal_verified(g->self.pid, g->self.start, SIGCONT);
  }
}

/*
 * Returns in whoever works: at once in the fork, and in the witness when the fork has been lost. Alone stays who cannot
 * hand its children on: one that has some from before, and a job of a shell, which knows it by its pid.
 */
void witness_begin(struct guardian *g) {
#ifndef CUSTODY_WITHOUT_WITNESS
  struct spec spec = g->spec;
  int worker_fd = -1;
  pid_t self = getpid();
  if (g->mode == TERMINAL_SHARED || has_children()) return;
  prctl(PR_SET_NAME, "custody-witness");
  pid_t worker = fork_beside(&worker_fd);
  if (worker < 0) refuse(g, RC_KERNEL, "witness", errno);
  if (worker == 0) {
    work(g, self);
    return;
  }
  if (!g->hides_pids) prctl(PR_SET_DUMPABLE, 0);
  munmap(spec.frame, spec.frame_bytes);
  munmap(spec.argv, (spec.argc + spec.envc + 2) * sizeof(char *));
  stand_by(g, worker, worker_fd);
  take_over(g);
#else
  (void)g;
#endif
}

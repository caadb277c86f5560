#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guardian.h"
#include "kernel.h"

/*
 * A guardian in the session of an interactive shell: the workload is a process group of that session, and the guardian
 * stands for it before the shell. SIGTTOU is blocked, so the terminal can be given away and taken from the background.
 * The workload's process is not reaped before its end is noted, so its number cannot be another group's until then.
 */
static bool in_foreground(const struct guardian *g) { return tcgetpgrp(g->terminal) == getpgrp(); }

struct group {
  pid_t id;
  int number;
  bool lives;
};

/* The descriptor is taken before the group is read, so that a reused pid is nobody or a member all the same. */
static bool signal_member(void *context, pid_t pid) {
  struct group *group = context;
  if (pid == getpid() || getpgid(pid) != group->id) return true;
  int pidfd = open_pidfd(pid);
  if (pidfd < 0) return true;
  if (getpgid(pid) == group->id && signal_pidfd(pidfd, group->number) == 0) group->lives = true;
  close(pidfd);
  return true;
}

/*
 * One by one, because the kernel signals a whole group through a descriptor only since 6.9. Number 0 only looks.
 * Returns whether there was anybody but us.
 */
static bool signal_group(pid_t id, int number) {
  struct group group = {.id = id, .number = number};
  each_process(signal_member, &group);
  return group.lives;
}

/* Only from our own group: a job that was started or continued in the background does not take the terminal. */
static void hand_over(const struct guardian *g) {
  if (in_foreground(g)) tcsetpgrp(g->terminal, g->child.pid);
}

void job_begin(const struct guardian *g) {
  if (g->mode == TERMINAL_SHARED) hand_over(g);
}

/* From the workload, or from a group that it left in the foreground and that is gone; never from the living shell. */
void job_end(const struct guardian *g) {
  if (g->mode != TERMINAL_SHARED) return;
  pid_t group = tcgetpgrp(g->terminal);
  if (group == g->child.pid || (group > 0 && !signal_group(group, 0))) tcsetpgrp(g->terminal, getpgrp());
}

static bool is_running_job(const struct guardian *g) {
  return g->mode == TERMINAL_SHARED && g->phase != GATED && g->outcome.how == HOW_PENDING;
}

/* A shell that ends hangs up the groups it knows, and ours stands for the workload's. */
void job_hang_up(struct guardian *g) {
  if (!is_running_job(g)) return;
  signal_group(g->child.pid, SIGHUP);
  signal_group(g->child.pid, SIGCONT);
}

/* The shell has continued its job, perhaps in the foreground. */
void job_continue(struct guardian *g) {
  if (!is_running_job(g)) return;
  hand_over(g);
  if (!g->job_stopped) return;
  g->job_stopped = false;
  signal_group(g->child.pid, SIGCONT);
}

#ifndef CUSTODY_WITHOUT_STOP_PROPAGATION
/* The nearest ancestor outside our group; 0 when there is none in our session, and so nobody who would continue us. */
static pid_t job_owner(void) {
  struct proc_stat stat;
  for (pid_t pid = getpid(); proc_stat(pid, 0, &stat) && stat.ppid > 1; pid = stat.ppid) {
    if (getpgid(stat.ppid) != getpgrp()) return getsid(stat.ppid) == getsid(0) ? stat.ppid : 0;
  }
  return 0;
}

/* Returns when the shell has continued us; all signals stay blocked but this one, and this one for no longer. */
static void stop_here(int number) {
  struct sigaction standard = {.sa_handler = SIG_DFL};
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, number);
  sigaction(number, &standard, NULL);
  raise(number);
  sigprocmask(SIG_UNBLOCK, &one, NULL);
  sigprocmask(SIG_BLOCK, &one, NULL);
}

/*
 * The shell must see its job stopped. Its child is our launcher, or, started by hand, we ourselves; a guardian that need
 * not stop does not, and can be asked to terminate the stopped job.
 */
static void stop_group(struct guardian *g, int number) {
  pid_t owner = job_owner();
  if (tcgetpgrp(g->terminal) == g->child.pid) tcsetpgrp(g->terminal, getpgrp());
  g->job_stopped = true;
  if (owner == 0) {
    job_continue(g);
    return;
  }
  signal_group(getpgrp(), number);
  if (owner != getppid()) return;
  stop_here(number);
  job_continue(g);
}
#endif

/* Looks whether the workload has been stopped at the terminal. A stop by SIGSTOP is between it and whoever sent that. */
void job_watch(struct guardian *g) {
#ifndef CUSTODY_WITHOUT_STOP_PROPAGATION
  siginfo_t info;
  if (!is_running_job(g)) return;
  memset(&info, 0, sizeof info);
  if (waitid(P_PID, (id_t)g->child.pid, &info, WSTOPPED | WNOHANG | __WALL) != 0 || info.si_pid == 0) return;
  int number = info.si_status;
  bool wants_terminal = number == SIGTTIN || number == SIGTTOU;
  if ((number != SIGTSTP && !wants_terminal) || g->terminated) return;
  if (wants_terminal && in_foreground(g)) { /* the shell put a job that was running into the foreground, silently */
    g->job_stopped = true;
    job_continue(g);
    return;
  }
  stop_group(g, number);
#else
  (void)g;
#endif
}

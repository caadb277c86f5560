#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include "guardian.h"

#ifdef CUSTODY_WITHOUT_WALL
enum { EVERY_CHILD = 0 };
#else
/* A child that was made with another exit signal than SIGCHLD is no child at all to a wait without __WALL. */
enum { EVERY_CHILD = __WALL };
#endif

/*
 * One turn of reaping. Children may end faster than they are taken, and the socket and the drain must have their turn.
 * Time and not a number: a turn of few children would fall behind a flood that a longer one still keeps up with, and
 * every zombie left standing makes the next walk longer.
 */
enum { TURN_MS = 10 };

static int raw_status(const siginfo_t *info) {
  if (info->si_code == CLD_EXITED) return (info->si_status & 0xff) << 8;
  return info->si_status | (info->si_code == CLD_DUMPED ? 0x80 : 0);
}

static void say_not_released(struct guardian *g) {
  char buffer[96];
  struct text line = TEXT_OVER(buffer);
  text_add(&line, "{\"event\":\"notReleased\",\"reason\":\"");
  text_add(&line, g->abandoned == NULL ? "childEnded" : g->abandoned);
  text_add(&line, "\"}\n");
  link_event(g, &line);
}

/*
 * The leader's end is published while the leader is still our zombie: whoever reads the receipt cannot meet another
 * process under its pid. That the image could not be executed is known from the error pipe, not from the code.
 */
static void note_workload(struct guardian *g, const siginfo_t *info) {
  struct outcome *o = &g->outcome;
  exec_result(g);
  o->wait_status = raw_status(info);
  if (g->phase == GATED) {
    o->how = HOW_NOT_RELEASED;
    say_not_released(g);
  } else if (info->si_code == CLD_EXITED) {
    o->how = o->error == ABSENT ? HOW_EXITED : HOW_EXEC_FAILED;
    o->code = info->si_status;
  } else {
    o->how = info->si_code == CLD_DUMPED ? HOW_DUMPED : HOW_SIGNALED;
    o->signal = info->si_status;
  }
  g->phase = ROOT_ENDED;
  job_end(g);
  step("rootEnded");
  receipt_status(g); /* a failure shows in the exit receipt, which repeats the status and decides the exit code */
}

static void note(struct guardian *g, const siginfo_t *info) {
  g->taking.pid = 0;
  in_order();
  g->taking = (struct taking){.phase = g->phase, .reaped = g->reaped, .adopted = g->adopted};
  g->taking.adopted_used = g->adopted_used;
  in_order();
  g->taking.pid = info->si_pid;
  in_order();
  g->reaped++;
  if (info->si_pid == g->child.pid && g->outcome.how == HOW_PENDING) {
    note_workload(g, info);
    return;
  }
  g->adopted++;
  adopted_append(g, info->si_pid, raw_status(info));
}

/*
 * Looks at each ended child before it takes it, so that nothing is lost when the guardian dies between the two.
 * True: ECHILD, no descendant remains. That answer, and no other, is the proof: the end of a turn proves nothing.
 */
bool reap_turn(struct guardian *g) {
  int64_t until = now_ms() + TURN_MS;
  g->more_ended = false;
  do {
    siginfo_t info;
    memset(&info, 0, sizeof info);
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | EVERY_CHILD) != 0) {
      if (errno == EINTR) continue;
      return errno == ECHILD;
    }
    if (info.si_pid == 0) return false;
    note(g, &info);
    step("noted");
    pid_t pid = info.si_pid;
    waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | EVERY_CHILD);
    step("taken");
    g->taking.pid = 0;
  } while (now_ms() < until);
  g->more_ended = true; /* perhaps; their SIGCHLD may be read already, so nothing else would wake the loop */
  return false;
}

/*
 * Whoever takes over from a worker that was lost between the two finds the child once more, and counts it once: what had
 * been noted of it is undone. One that has been taken is gone, and stays counted.
 */
void reap_again(struct guardian *g) {
  const struct taking before = g->taking;
  siginfo_t info;
  memset(&info, 0, sizeof info);
  if (before.pid == 0 || waitid(P_PID, (id_t)before.pid, &info, WEXITED | WNOHANG | WNOWAIT | EVERY_CHILD) != 0) return;
  if (info.si_pid != before.pid) return;
  g->reaped = before.reaped;
  g->adopted = before.adopted;
  g->adopted_used = before.adopted_used;
  if (before.pid != g->child.pid || before.phase >= ROOT_ENDED) return;
  g->phase = before.phase;
  g->outcome = (struct outcome){.code = ABSENT, .signal = ABSENT, .error = g->outcome.error};
}

bool has_children(void) {
  siginfo_t info;
  return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | EVERY_CHILD) == 0;
}

/* Returns when there are none left. */
void await_children(void) {
  siginfo_t info;
  while (waitid(P_ALL, 0, &info, WEXITED | EVERY_CHILD) == 0 || errno == EINTR) continue;
}

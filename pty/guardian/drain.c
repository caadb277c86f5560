#include <stdlib.h>

#include "guardian.h"
#include "kernel.h"

/* Agreements of consecutive scans before the tree counts as quiet. */
enum { AGREEMENTS = 2 };

/* The pace of sweeps: at first as fast as the kernel stops things, then slower, so that a stuck tree costs little. */
enum { PACE_FIRST_MS = 1, PACE_LAST_MS = 50 };

bool drain_active(const struct guardian *g) {
  return g->drain.phase == DRAIN_GRACE || g->drain.phase == DRAIN_QUIESCE || g->drain.phase == DRAIN_KILL;
}

static int64_t sooner(int64_t a, int64_t b) { return a < b ? a : b; }

static void pace(struct guardian *g) {
  int64_t wait = PACE_FIRST_MS + (int64_t)g->drain.scans / 8;
  g->drain.next_at = sooner(now_ms() + sooner(wait, PACE_LAST_MS), g->drain.budget_until);
}

/* Once per round, by the descriptors held since enrolment: a nested guardian then ends its own tree in its own order. */
static void ask_nested(struct guardian *g) {
  for (int at = 0; at < CLIENTS; at++) {
    if (g->client[at].nested) signal_pidfd(g->client[at].pidfd, SIGTERM);
  }
}

static void enter_phase(struct guardian *g, enum drain_phase phase) {
  g->drain.phase = phase;
  g->drain.scans = 0;
  g->drain.agreements = 0;
  g->drain.digest = 0;
  g->drain.next_at = now_ms();
}

static void forget_round(struct guardian *g) {
  struct drain *d = &g->drain;
  members_free(&d->suspended);
  members_free(&d->unkillable);
  free(d->quiesced);
  free(d->signalled);
  *d = (struct drain){.phase = DRAIN_IDLE};
}

static void begin_round(struct guardian *g, uint64_t grace_ms, uint64_t budget_ms) {
  struct members m = {0};
  struct sweep done;
  forget_round(g);
  g->drain.grace_until = now_ms() + (int64_t)grace_ms;
  g->drain.budget_until = g->drain.grace_until + (int64_t)budget_ms;
  enter_phase(g, DRAIN_GRACE);
  g->drain.next_at = g->drain.grace_until;
  ask_nested(g);
  if (grace_ms > 0) sweep(g, &m, SIGTERM, &done);
  members_free(&m);
}

/*
 * Begins a bounded termination, or joins the one in progress: then only an earlier end of the grace counts, so that an
 * impatient second caller is heard and nobody can prolong. Before the gate there is nothing to terminate.
 */
bool drain_begin(struct guardian *g, uint64_t grace_ms, uint64_t budget_ms) {
  g->terminated = true;
  if (g->phase == GATED) {
    gate_abandon(g, "terminated");
    return true;
  }
  if (!drain_active(g)) {
    begin_round(g, grace_ms, budget_ms);
    return true;
  }
  if (g->drain.phase == DRAIN_GRACE) {
    g->drain.grace_until = sooner(g->drain.grace_until, now_ms() + (int64_t)grace_ms);
    g->drain.next_at = g->drain.grace_until;
  }
  return false;
}

/*
 * Gives up this round. What was stopped and not killed runs on; the guardian keeps waiting, and can be asked again.
 * Survivors are all that has not been reaped: also a zombie that an outside tracer holds keeps the proof back.
 */
static void exhaust(struct guardian *g) {
  struct members m = {0};
  struct sweep seen;
  if (g->drain.phase == DRAIN_QUIESCE) resume_suspended(g);
  sweep(g, &m, 0, &seen);
  g->drain.phase = DRAIN_EXHAUSTED;
  say_exhausted(g, m.count);
  members_free(&m);
}

/* Stops whoever runs, until scans agree that nobody does and that nobody has come, gone or been replaced. */
static void quiesce(struct guardian *g) {
  struct drain *d = &g->drain;
  struct members m = {0};
  struct sweep seen;
  sweep(g, &m, SIGSTOP, &seen);
  d->scans++;
  d->agreements = seen.running == 0 && seen.digest == d->digest ? d->agreements + 1 : 0;
  d->digest = seen.running == 0 ? seen.digest : 0;
#ifdef CUSTODY_WITHOUT_AGREEMENT
  d->agreements = AGREEMENTS;
#endif
  if (d->agreements >= AGREEMENTS) {
    say_quiesced(g, &m, seen.living);
    enter_phase(g, DRAIN_KILL);
  } else {
    pace(g);
  }
  members_free(&m);
}

/* Nobody runs, so nobody can fork: the kill reaches all. It is repeated for what is reparented to us meanwhile. */
static void kill_all(struct guardian *g) {
  struct members m = {0};
  struct sweep seen;
  sweep(g, &m, SIGKILL, &seen);
  if (g->drain.scans++ == 0) say_signalled(g, seen.sent, seen.skipped);
  pace(g);
  members_free(&m);
}

/* Called when next_at is due. */
void drain_step(struct guardian *g) {
  bool in_grace = g->drain.phase == DRAIN_GRACE;
  if (in_grace) enter_phase(g, DRAIN_QUIESCE);
  else if (now_ms() >= g->drain.budget_until) exhaust(g);
  if (g->drain.phase == DRAIN_QUIESCE) quiesce(g);
  else if (g->drain.phase == DRAIN_KILL) kill_all(g);
}

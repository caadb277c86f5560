#include <stdlib.h>

#include "guardian.h"
#include "kernel.h"

/* Of a scan with the one before, when both have seen nobody run: then the tree counts as quiet. */
enum { AGREEMENTS = 1 };

/*
 * The pace of sweeps: the first ones follow each other, for most trees are quiet by then; afterwards as fast as the kernel
 * stops things, then slower, so that a stuck tree costs little.
 */
enum { EAGER_SCANS = 4, PACE_FIRST_MS = 1, PACE_LAST_MS = 50 };

/* How many ends the kernel is given a millisecond for before somebody looks whether all have died: a look costs as much. */
enum { ENDS_PER_MS = 8 };

/* Of sweeps over a frozen tree while nested guardians end theirs: only a foreign SIGCONT could have undone anything. */
enum { WATCH_MS = 200 };

bool drain_active(const struct guardian *g) {
  return g->drain.phase == DRAIN_GRACE || g->drain.phase == DRAIN_QUIESCE || g->drain.phase == DRAIN_KILL;
}

static int64_t sooner(int64_t a, int64_t b) { return a < b ? a : b; }

static void pace(struct guardian *g) {
  int64_t wait = g->drain.scans < EAGER_SCANS ? 0 : PACE_FIRST_MS + (int64_t)g->drain.scans / 8;
  g->drain.next_at = sooner(now_ms() + sooner(wait, PACE_LAST_MS), g->drain.budget_until);
}

/*
 * By the descriptors held since enrolment: a nested guardian then ends its own tree in its own order. Once in a round, and
 * again when it has given up: its budget is over and ours is not.
 */
static void ask_nested(struct guardian *g) {
  for (int at = 0; at < CLIENTS; at++) {
    struct client *c = &g->client[at];
    if (c->nested) client_ready(g, c); /* what it has said of itself may still be unread */
    if (!c->nested || (g->drain.asked && !c->stalled)) continue;
    c->stalled = false;
    nested_terminate(c);
  }
  g->drain.asked = true;
}

static void enter_phase(struct guardian *g, enum drain_phase phase) {
  g->drain.scans = 0;
  g->drain.agreements = 0;
  g->drain.digest = 0;
  g->drain.expected = 0;
  g->drain.next_at = now_ms();
  in_order();
  g->drain.phase = phase;
}

static void forget_round(struct guardian *g) {
  struct drain *d = &g->drain;
  members_free(&d->suspended);
  members_free(&d->woken);
  members_free(&d->frozen);
  members_free(&d->unkillable);
  cgroup_thaw(g);
  free(d->quiesced);
  free(d->signalled);
  let_go(&d->witnessed);
  *d = (struct drain){.phase = DRAIN_IDLE, .witnessed = -1};
}

/* While there are nested guardians a grace may end early, for which somebody has to look. */
static void pace_grace(struct guardian *g) {
  g->drain.next_at = g->drain.grace_until;
  if (nested_unfinished(g)) g->drain.next_at = sooner(g->drain.next_at, now_ms() + PACE_LAST_MS);
}

static void warn(struct guardian *g) {
  struct members m = {0};
  struct sweep done;
  if (now_ms() < g->drain.grace_until) sweep(g, &m, SIGTERM, &done);
  g->drain.warned = true;
  pace_grace(g);
  members_free(&m);
}

static void begin_round(struct guardian *g, uint64_t grace_ms, uint64_t budget_ms) {
  forget_round(g);
  g->drain.witnessed = memory_file("witnessed");
  g->drain.grace_until = now_ms() + (int64_t)grace_ms;
  g->drain.budget_until = g->drain.grace_until + (int64_t)budget_ms;
  enter_phase(g, DRAIN_GRACE);
#ifdef CUSTODY_WITHOUT_FREEZE_FIRST
  ask_nested(g);
#endif
  step("grace");
  warn(g);
}

/* The budget counts from the end of the grace, and comes nearer with it. */
static void shorten_grace(struct guardian *g, int64_t until) {
  int64_t less = g->drain.grace_until - sooner(g->drain.grace_until, until);
  g->drain.grace_until -= less;
  g->drain.budget_until -= less;
  pace_grace(g);
}

/* Before anybody is told that it has been accepted: from here on it is begun, by whoever is left to do so. */
void drain_order(struct guardian *g, uint64_t grace_ms, uint64_t budget_ms) {
  g->order = (struct order){.grace_ms = grace_ms, .budget_ms = budget_ms};
  in_order();
  g->order.open = true;
  g->terminated = true;
}

static bool begin_or_join(struct guardian *g, uint64_t grace_ms, uint64_t budget_ms) {
  if (g->phase == GATED) {
    gate_abandon(g, "terminated");
    return true;
  }
  if (!drain_active(g)) {
    begin_round(g, grace_ms, budget_ms);
    return true;
  }
  if (g->drain.phase == DRAIN_GRACE) shorten_grace(g, now_ms() + (int64_t)grace_ms);
  return false;
}

/*
 * Begins a bounded termination, or joins the one in progress: then only an earlier end of the grace counts, so that an
 * impatient second caller is heard and nobody can prolong. Before the gate there is nothing to terminate.
 */
bool drain_begin(struct guardian *g, uint64_t grace_ms, uint64_t budget_ms) {
  drain_order(g, grace_ms, budget_ms);
  const bool begun = begin_or_join(g, grace_ms, budget_ms);
  g->order.open = false;
  return begun;
}

/*
 * Gives up this round. What was stopped and not killed runs on; the guardian keeps waiting, and can be asked again.
 * Survivors are all that has not been reaped: also a zombie that an outside tracer holds keeps the proof back.
 */
static void exhaust(struct guardian *g) {
  struct members m = {0};
  struct sweep seen;
  resume_suspended(g);
  sweep(g, &m, 0, &seen);
  say_exhausted(g, &m);
  enrol_stalled(g);
  g->drain.phase = DRAIN_EXHAUSTED;
  members_free(&m);
}

/* Whoever could have noticed the end of a nested scope has stopped; only now do nested guardians begin (SHUT-03). */
static void await_nested(struct guardian *g) {
#ifndef CUSTODY_WITHOUT_ASKING_AGAIN
  ask_nested(g);
#else
  if (!g->drain.asked) ask_nested(g);
#endif
  g->drain.next_at = sooner(now_ms() + WATCH_MS, g->drain.budget_until);
}

static void await_ends(struct guardian *g, size_t count) {
  g->drain.next_at = sooner(now_ms() + PACE_LAST_MS + (int64_t)(count / ENDS_PER_MS), g->drain.budget_until);
}

/* Nobody runs, so nobody can fork: this kill reaches all. */
static void begin_kill(struct guardian *g, struct members *m) {
  struct sweep done;
  step("frozen");
  members_free(&g->drain.frozen);
  g->drain.frozen = *m;
  *m = (struct members){0};
  enter_phase(g, DRAIN_KILL);
  step("kill");
  kill_frozen(g, &done);
  step("killed");
  say_signalled(g, done.sent, done.skipped);
  await_ends(g, g->drain.frozen.count);
}

/*
 * Two readings of two kinds agree when the whole tree is in the cgroup, and nobody else. Whoever was moved into it is not
 * ours to kill; then it is left alone, and sweeps do the rest.
 */
static void agree_with_cgroup(struct guardian *g, const struct sweep *seen) {
  struct drain *d = &g->drain;
  if (!d->cgroup_stops) return;
#ifndef CUSTODY_WITHOUT_FOREIGN_CHECK
  if (d->cgroup.count > seen->in_cgroup) {
    cgroup_thaw(g);
    d->agreements = 0;
    d->digest = 0;
    return;
  }
#endif
  if (seen->running == 0 && seen->living == seen->in_cgroup) d->agreements = AGREEMENTS;
}

/*
 * Stops whoever runs, until scans agree that nobody does and that nobody has come, gone or been replaced. Then nested
 * guardians end their trees, and what one that is lost leaves to us has to be agreed on as well: nothing of this tree is
 * killed before.
 */
static void quiesce(struct guardian *g) {
  struct drain *d = &g->drain;
  struct members m = {0};
  struct sweep seen;
  if (d->cgroup_stops && !cgroup_settled(g)) {
    d->next_at = now_ms() + PACE_FIRST_MS;
    return;
  }
  if (d->cgroup_stops) d->expected = d->cgroup.count;
  sweep(g, &m, SIGSTOP, &seen);
  step("freeze");
  d->scans++;
  d->agreements = seen.running == 0 && seen.digest == d->digest ? d->agreements + 1 : 0;
  d->digest = seen.running == 0 ? seen.digest : 0;
  d->expected = seen.running == 0 ? m.count : 0;
  agree_with_cgroup(g, &seen);
#ifdef CUSTODY_WITHOUT_AGREEMENT
  d->agreements = AGREEMENTS;
#endif
  if (d->agreements < AGREEMENTS) pace(g);
  else say_quiesced(g, &m, seen.living);
  if (d->agreements >= AGREEMENTS && nested_unfinished(g)) await_nested(g);
  else if (d->agreements >= AGREEMENTS) begin_kill(g, &m);
  members_free(&m);
}

/*
 * Repeated for whom the first kill did not reach. A newcomer (woken from outside in time to fork, or inherited from a
 * nested guardian that was killed) is frozen first, with all that it may have begun: it could run away from kills.
 */
static void kill_again(struct guardian *g) {
  struct members m = {0};
  struct sweep seen;
  sweep(g, &m, SIGKILL, &seen);
  await_ends(g, m.count);
  if (seen.newcomers > 0) enter_phase(g, DRAIN_QUIESCE);
  members_free(&m);
}

static void begin_freeze(struct guardian *g) {
  enter_phase(g, DRAIN_QUIESCE);
  cgroup_freeze(g);
}

/* A grace is over early when nobody is left to enjoy it but nested guardians, which have not been asked yet. */
static void wait_politely(struct guardian *g) {
  struct members m = {0};
  struct sweep seen = {.living = 1};
  if (now_ms() < g->drain.grace_until) sweep(g, &m, 0, &seen);
  if (now_ms() >= g->drain.grace_until || (seen.living == 0 && !m.incomplete)) begin_freeze(g);
  else pace_grace(g);
  members_free(&m);
}

/* Called when next_at is due. */
void drain_step(struct guardian *g) {
  bool in_grace = g->drain.phase == DRAIN_GRACE;
  if (in_grace) wait_politely(g);
  else if (now_ms() >= g->drain.budget_until) exhaust(g);
  if (g->drain.phase == DRAIN_QUIESCE) quiesce(g);
  else if (g->drain.phase == DRAIN_KILL) kill_again(g);
}

/* A nested guardian has completed its receipts or is lost: the tree is looked at again, from the beginning. */
void drain_nested_ended(struct guardian *g) {
  if (g->drain.phase != DRAIN_QUIESCE && g->drain.phase != DRAIN_KILL) return;
  g->drain.agreements = 0;
  g->drain.next_at = now_ms();
}

/*
 * Goes on with what a lost worker had begun. Its lists were in its own memory; whom it had stopped and woken stands in a
 * file. A freeze begins anew, since what scans had agreed on is not known, and an order that it had no time to begin is
 * begun.
 */
void drain_inherit(struct guardian *g) {
  struct drain *d = &g->drain;
  d->suspended = d->woken = d->frozen = d->unkillable = d->cgroup = (struct members){0};
  d->quiesced = d->signalled = NULL;
  recall_round(g);
  if (d->phase == DRAIN_QUIESCE || d->phase == DRAIN_KILL) begin_freeze(g);
  else if (d->phase == DRAIN_GRACE && !d->warned) warn(g);
  else if (d->phase == DRAIN_GRACE) pace_grace(g);
  if (g->order.open) drain_begin(g, g->order.grace_ms, g->order.budget_ms);
}

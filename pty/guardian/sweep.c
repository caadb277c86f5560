#include <errno.h>
#include <unistd.h>

#include "guardian.h"

/* Doublings of a walk's time, up to 0.8 s: so long the socket may wait, well within the patience of a client. */
enum { UNFINISHED_MAX = 3 };

static uint64_t mixed(uint64_t word) {
  word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9u;
  word = (word ^ word >> 27) * 0x94d049bb133111ebu;
  return word ^ word >> 31;
}

static void remember(struct members *list, const struct member *m) {
  if (members_find(list, m->pid, m->start) == NULL) members_note(list, m);
}

/*
 * Whether this sweep has business with the member: a stop only with what runs, an end only with what was frozen, anything
 * else with what lives.
 */
static bool concerns(const struct guardian *g, const struct member *m, int number) {
  if (m->ended) return false;
#ifndef CUSTODY_WITHOUT_REFREEZE
  if (number == SIGKILL) return members_search(&g->drain.frozen, m->pid, m->start) != NULL;
#endif
  if (number != SIGSTOP) return true;
#ifdef CUSTODY_WITHOUT_FREEZE
  return false;
#endif
  return m->running && !cgroup_stops(g, m->pid) && members_find(&g->drain.unkillable, m->pid, m->start) == NULL;
}

enum { WITNESS_STOPPED, WITNESS_WOKEN };
struct witnessed {
  pid_t pid;
  int as;
  uint64_t start;
};

/* Before it is done: who is not known to have been stopped would stay so for ever if we were lost. */
static void write_down(const struct guardian *g, const struct member *m, int as) {
  const struct witnessed one = {.pid = m->pid, .as = as, .start = m->start};
  ssize_t ignored = write(g->drain.witnessed, &one, sizeof one);
  (void)ignored;
}

/* What a lost worker had written down. */
void recall_round(struct guardian *g) {
  struct witnessed one;
  for (off_t at = 0; pread(g->drain.witnessed, &one, sizeof one, at) == sizeof one; at += (off_t)sizeof one) {
    const struct member m = {.pid = one.pid, .start = one.start};
    remember(one.as == WITNESS_WOKEN ? &g->drain.woken : &g->drain.suspended, &m);
  }
}

static void send_one(struct guardian *g, const struct member *m, int number, struct sweep *out) {
  const bool wakes = number == SIGTERM && m->state == 'T';
  if (number == SIGSTOP || wakes) write_down(g, m, wakes ? WITNESS_WOKEN : WITNESS_STOPPED);
  struct member seen = *m;
  int error = signal_known(&seen, number);
  if (error == 0) out->sent++;
  if (number == SIGKILL) step("struck");
  if (error == EPERM) remember(&g->drain.unkillable, m); /* another user's process: reported, and its end awaited */
  if (error == 0 && number == SIGSTOP) remember(&g->drain.suspended, &seen);
  if (error != 0 || number != SIGTERM) return;
  /* A stopped process acts on SIGTERM only when it is continued. */
  if (wakes) remember(&g->drain.woken, m);
  signal_known(&seen, SIGCONT);
}

struct stopping {
  struct guardian *g;
  struct sweep *out;
};

/* A stop does not wait for the end of the walk: a tree that grows as fast as it is walked would never let it end. */
static void stop_at_once(void *context, const struct member *one) {
  struct stopping *s = context;
#ifndef CUSTODY_WITHOUT_SPARING
  if (one->nested) return;
#endif
  if (concerns(s->g, one, SIGSTOP)) send_one(s->g, one, SIGSTOP, s->out);
}

/*
 * Long enough to finish, sooner or later: a walk that is always cut at the same length would never let a tree that is
 * merely large, or a machine that is merely busy, come to an agreement. Never past the budget, unless that is over.
 */
static int64_t walk_end(const struct guardian *g) {
  int64_t now = now_ms(), end = now + ((int64_t)WALK_MS << g->drain.unfinished);
  return now < g->drain.budget_until && g->drain.budget_until < end ? g->drain.budget_until : end;
}

/*
 * Reads the tree once and signals every member that the sweep concerns, each by its verified identity. Enrolled
 * guardians and what lies below them are left alone. number 0 only looks. Only a stop is sent during the walk: it leaves
 * the tree as it is, while an end hands children on to us, behind the back of the walk that should count them.
 */
void sweep(struct guardian *g, struct members *m, int number, struct sweep *out) {
  struct stopping stopping = {.g = g, .out = out};
  struct visit visit = {.until = walk_end(g), .context = &stopping};
  if (number == SIGSTOP) visit.meet = stop_at_once;
  if (number == SIGSTOP) visit.expected = g->drain.expected;
  *out = (struct sweep){.digest = mixed(g->reaped)}; /* who was reaped since has left the set, which changes it */
  members_read(g, m, &visit);
  for (size_t at = 0; at < m->count; at++) {
    const struct member *one = &m->list[at];
#ifndef CUSTODY_WITHOUT_SPARING
    if (one->nested) {
      out->skipped++;
      continue;
    }
#endif
    out->digest += mixed((uint64_t)one->pid ^ mixed(one->start));
    out->living += !one->ended;
    out->in_cgroup += !one->ended && cgroup_stops(g, one->pid);
    if (!concerns(g, one, number)) {
      out->newcomers += number == SIGKILL && !one->ended;
      continue;
    }
    out->running += one->running;
    if (number != 0 && number != SIGSTOP) send_one(g, one, number, out);
  }
  if (!m->incomplete) return;
  out->running++;
  if (g->drain.unfinished < UNFINISHED_MAX) g->drain.unfinished++;
}

/* The tree that scans have agreed on, without another walk: nobody in it has run since. */
void kill_frozen(struct guardian *g, struct sweep *out) {
  const struct members *m = &g->drain.frozen;
  *out = (struct sweep){0};
  bool by_cgroup = cgroup_kill(g);
  members_sort(&g->drain.suspended);
  for (size_t at = 0; at < m->count; at++) {
    out->skipped += m->list[at].nested;
#ifndef CUSTODY_WITHOUT_SPARING
    if (m->list[at].nested) continue;
#endif
    if (m->list[at].ended) continue;
    if (by_cgroup && cgroup_stops(g, m->list[at].pid)) {
      out->sent++;
      continue;
    }
    const struct member *stopped = members_search(&g->drain.suspended, m->list[at].pid, m->list[at].start);
    send_one(g, stopped != NULL ? stopped : &m->list[at], SIGKILL, out);
  }
}

/* Undoes exactly what the drain did, in this order: whoever was stopped before it stays stopped, or is stopped again. */
void resume_suspended(struct guardian *g) {
  const struct members *stopped = &g->drain.suspended, *woken = &g->drain.woken;
  for (size_t at = 0; at < woken->count; at++) signal_verified(woken->list[at].pid, woken->list[at].start, SIGSTOP);
  cgroup_thaw(g);
  for (size_t at = 0; at < stopped->count; at++) {
    const struct member *one = &stopped->list[at];
    if (members_find(woken, one->pid, one->start) == NULL) signal_verified(one->pid, one->start, SIGCONT);
  }
  members_free(&g->drain.suspended);
  members_free(&g->drain.woken);
}

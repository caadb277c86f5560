#include <errno.h>

#include "guardian.h"

static uint64_t mixed(uint64_t word) {
  word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9u;
  word = (word ^ word >> 27) * 0x94d049bb133111ebu;
  return word ^ word >> 31;
}

static void remember(struct members *list, const struct member *m) {
  if (members_find(list, m->pid, m->start) == NULL) members_note(list, m);
}

/* Whether this sweep has business with the member: a stop only with what runs, anything else with what lives. */
static bool concerns(const struct guardian *g, const struct member *m, int number) {
  if (m->ended) return false;
  if (number != SIGSTOP) return true;
  return m->running && members_find(&g->drain.unkillable, m->pid, m->start) == NULL;
}

static void send_one(struct guardian *g, const struct member *m, int number, struct sweep *out) {
  int error = signal_verified(m->pid, m->start, number);
  if (error == 0) out->sent++;
  if (error == EPERM) remember(&g->drain.unkillable, m); /* another user's process: reported, and its end awaited */
  if (error == 0 && number == SIGSTOP) remember(&g->drain.suspended, m);
  /* A stopped process acts on SIGTERM only when it is continued. */
  if (error == 0 && number == SIGTERM) signal_verified(m->pid, m->start, SIGCONT);
}

/*
 * Reads the tree once and signals every member that the sweep concerns, each by its verified identity. Enrolled
 * guardians and what lies below them are left alone. number 0 only looks.
 */
void sweep(struct guardian *g, struct members *m, int number, struct sweep *out) {
  members_read(g, m);
  *out = (struct sweep){.digest = mixed(g->reaped)}; /* who was reaped since has left the set, which changes it */
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
    if (!concerns(g, one, number)) continue;
    out->running += one->running;
    if (number != 0) send_one(g, one, number, out);
  }
  if (m->incomplete) out->running++;
}

/* Undoes exactly what the drain did: whoever was stopped before it stays stopped. */
void resume_suspended(struct guardian *g) {
  struct members *list = &g->drain.suspended;
  for (size_t at = 0; at < list->count; at++) signal_verified(list->list[at].pid, list->list[at].start, SIGCONT);
  members_free(list);
}

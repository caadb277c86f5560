#include <stdlib.h>
#include <string.h>

#include "guardian.h"

/* Two lists of LISTED entries of at most 40 bytes, and the words around them. */
enum { EVENT_BYTES = 2 * 40 * LISTED + 256 };

static void put_pairs(struct text *t, const struct members *m, bool nested) {
  size_t listed = 0;
  text_add(t, "[");
  for (size_t at = 0; at < m->count && listed < LISTED; at++) {
    const struct member *one = &m->list[at];
    if (one->nested != nested || one->ended) continue;
    text_add(t, listed++ > 0 ? ",[" : "[");
    text_unsigned(t, (uint64_t)one->pid);
    text_add(t, ",\"");
    text_unsigned(t, one->start);
    text_add(t, "\"]");
  }
  text_add(t, "]");
}

/*
 * Tells everybody who follows, unless a lost worker is known to have done so (what is told twice does no harm), and
 * returns the line, for whoever attaches later; the caller frees it.
 */
static char *tell(struct guardian *g, struct text *t, bool *told) {
  text_add(t, "}\n");
  if (!t->full && !*told) tell_followers(g, t->at, t->used);
  *told = true;
  return t->at;
}

/* The first time in a round: a freeze of newcomers is a part of the same. */
void say_quiesced(struct guardian *g, const struct members *m, size_t living) {
  char *buffer = g->drain.quiesced == NULL ? malloc(EVENT_BYTES) : NULL;
  if (buffer == NULL) return;
  struct text t = text_over(buffer, EVENT_BYTES);
  text_add(&t, "{\"event\":\"quiesced\",\"scans\":");
  text_unsigned(&t, g->drain.scans);
  text_add(&t, ",\"total\":");
  text_unsigned(&t, living);
  text_add(&t, ",\"members\":");
  put_pairs(&t, m, false);
  g->drain.quiesced = tell(g, &t, &g->drain.told[TOLD_QUIESCED]);
}

void say_signalled(struct guardian *g, size_t total, size_t skipped) {
  enum { ROOM = 128 };
  char *buffer = g->drain.signalled == NULL ? malloc(ROOM) : NULL;
  if (buffer == NULL) return;
  struct text t = text_over(buffer, ROOM);
  text_add(&t, "{\"event\":\"signalled\",\"total\":");
  text_unsigned(&t, total);
  text_add(&t, ",\"skippedGuardians\":");
  text_unsigned(&t, skipped);
  g->drain.signalled = tell(g, &t, &g->drain.told[TOLD_SIGNALLED]);
}

/* Nested guardians that have not ended are named: whoever asks again has to look there. */
void say_exhausted(struct guardian *g, const struct members *m) {
  char *buffer = malloc(EVENT_BYTES);
  if (buffer == NULL) return;
  struct text t = text_over(buffer, EVENT_BYTES);
  text_add(&t, "{\"event\":\"budgetExhausted\",\"survivors\":");
  text_unsigned(&t, m->count);
  text_add(&t, ",\"unkillable\":");
  put_pairs(&t, &g->drain.unkillable, false);
  text_add(&t, ",\"guardians\":");
  put_pairs(&t, m, true);
  bool told = false;
  free(tell(g, &t, &told));
}

void say_settled(struct guardian *g, int code) {
  char buffer[64];
  struct text t = TEXT_OVER(buffer);
  text_add(&t, "{\"event\":\"settled\",\"exit\":");
  text_unsigned(&t, (uint64_t)code);
  bool told = false;
  tell(g, &t, &told);
}

/* A daemon that was restarted in the middle of a drain learns what the drain has already done. */
void drain_attach(struct guardian *g, struct client *c) {
  const char *lines[] = {g->drain.quiesced, g->drain.signalled};
  for (size_t at = 0; at < sizeof lines / sizeof *lines; at++) {
    if (lines[at] != NULL && !client_send(g, c, lines[at], strlen(lines[at]))) return;
  }
}

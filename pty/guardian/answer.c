#include <stdlib.h>
#include <string.h>

#include "guardian.h"

/* The largest answer is `members`: LISTED entries of at most 96 bytes. */
enum { ANSWER_BYTES = 96 * LISTED + 2048, WAIT_MAX_MS = 24 * 3600 * 1000 };

static const char *phase_name(const struct guardian *g) {
  if (g->phase == LINGERING) return "lingering";
  if (g->terminated && g->phase != GATED) return "draining";
  if (g->phase == ROOT_ENDED) return "rootEnded";
  return g->phase == GATED ? "gated" : "running";
}

static void answer(struct guardian *g, struct client *c, struct text *t) {
  text_add(t, "}\n");
  if (!t->full) client_send(g, c, t->at, t->used);
}

static void answer_error(struct guardian *g, struct client *c, const char *reason) {
  char buffer[96];
  struct text t = TEXT_OVER(buffer);
  text_add(&t, "{\"error\":\"");
  text_add(&t, reason);
  text_add(&t, "\"");
  answer(g, c, &t);
}

static void answer_hello(struct guardian *g, struct client *c) {
  char buffer[512];
  struct text t = TEXT_OVER(buffer);
  text_add(&t, "{\"protocol\":1,\"scope\":\"");
  text_add(&t, g->scope);
  text_add(&t, "\",\"guardian\":");
  identity_text(&t, &g->self);
  text_add(&t, ",\"workload\":");
  identity_text(&t, &g->child);
  text_add(&t, ",\"phase\":\"");
  text_add(&t, phase_name(g));
  text_add(&t, g->terminated ? "\",\"terminating\":true" : "\",\"terminating\":false");
  text_add(&t, g->cgroup >= 0 ? ",\"cgroup\":true" : ",\"cgroup\":false");
  answer(g, c, &t);
}

static void put_member(struct text *t, const struct member *m) {
  const char state[2] = {m->state, '\0'};
  text_add(t, "{\"pid\":");
  text_unsigned(t, (uint64_t)m->pid);
  text_add(t, ",\"start\":\"");
  text_unsigned(t, m->start);
  text_add(t, "\",\"ppid\":");
  text_unsigned(t, (uint64_t)m->ppid);
  text_add(t, ",\"state\":\"");
  text_add(t, state);
  text_add(t, "\"}");
}

static void put_members(struct text *t, const struct members *m, bool nested) {
  size_t listed = 0;
  for (size_t at = 0; at < m->count && listed < LISTED; at++) {
    if (m->list[at].nested != nested) continue;
    if (listed++ > 0) text_add(t, ",");
    if (nested) text_unsigned(t, (uint64_t)m->list[at].pid);
    else put_member(t, &m->list[at]);
  }
}

static void answer_members(struct guardian *g, struct client *c) {
  struct members m = {0};
  struct visit visit = {.until = now_ms() + WALK_MS};
  size_t nested = 0;
  char *buffer = malloc(ANSWER_BYTES);
  if (buffer == NULL) {
    answer_error(g, c, "outOfMemory");
    return;
  }
  members_read(g, &m, &visit);
  struct text t = text_over(buffer, ANSWER_BYTES);
  text_add(&t, "{\"members\":[");
  put_members(&t, &m, false);
  for (size_t at = 0; at < m.count; at++) nested += m.list[at].nested;
  text_add(&t, "],\"total\":");
  text_unsigned(&t, m.count - nested);
  text_add(&t, ",\"nested\":[");
  put_members(&t, &m, true);
  text_add(&t, m.incomplete ? "],\"complete\":false" : "],\"complete\":true");
  answer(g, c, &t);
  members_free(&m);
  free(buffer);
}

/* Attaches to a drain in progress; only the first caller begins one. Before the gate it simply stays closed. */
static void answer_terminate(struct guardian *g, struct client *c, char *rest) {
  uint64_t grace = 0, budget = 0;
  char *space = strchr(rest, ' ');
  if (space != NULL) *space = '\0';
  if (space == NULL || !parse_unsigned(rest, WAIT_MAX_MS, &grace) ||
      !parse_unsigned(space + 1, WAIT_MAX_MS, &budget)) {
    answer_error(g, c, "badRequest");
    return;
  }
  bool already = drain_active(g);
  const char *line = already ? "{\"event\":\"accepted\",\"already\":true}\n" : "{\"event\":\"accepted\",\"already\":false}\n";
  c->follows = true;
  if (g->phase != LINGERING) drain_order(g, grace, budget);
  if (g->phase == LINGERING) { /* nothing is left to terminate, and the output is still being read */
    if (client_send(g, c, line, strlen(line))) say_settled(g, g->code);
    return;
  }
  if (client_send(g, c, line, strlen(line)) && already) drain_attach(g, c);
  step("promised");
  drain_begin(g, grace, budget);
}

/* What a nested guardian tells about itself has no answer: it does not listen any more. */
static bool heard_nested(struct guardian *g, struct client *c, const char *line) {
  bool done = strcmp(line, "done") == 0;
  if (c->nested && strncmp(line, "worker ", 7) == 0) {
    enrol_note_worker(g, c, line + 7);
    return true;
  }
  if (!c->nested || (!done && strcmp(line, "stalled") != 0)) return false;
  if (!done) c->stalled = true;
  else c->done = true;
  if (done) drain_nested_ended(g);
  return true;
}

/* One line, one request. */
void client_request(struct guardian *g, struct client *c, char *line) {
  if (strncmp(line, "hello ", 6) == 0) answer_hello(g, c);
  else if (strcmp(line, "members") == 0) answer_members(g, c);
  else if (strncmp(line, "terminate ", 10) == 0) answer_terminate(g, c, line + 10);
  else if (strncmp(line, "enrol ", 6) == 0) enrol_answer(g, c, line + 6);
  else if (!heard_nested(g, c, line)) answer_error(g, c, "badRequest");
}

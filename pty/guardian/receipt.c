#include "guardian.h"

static const char *const how_names[] = {
    [HOW_EXITED] = "exited",
    [HOW_SIGNALED] = "signaled",
    [HOW_DUMPED] = "dumped",
    [HOW_EXEC_FAILED] = "execFailed",
    [HOW_NOT_RELEASED] = "notReleased",
};

static void put_key(struct text *t, const char *key) {
  text_add(t, ",\"");
  text_add(t, key);
  text_add(t, "\":");
}

static void put_string(struct text *t, const char *key, const char *value) {
  put_key(t, key);
  text_add(t, "\"");
  text_add(t, value);
  text_add(t, "\"");
}

static void put_number(struct text *t, const char *key, uint64_t value) {
  put_key(t, key);
  text_unsigned(t, value);
}

/* Inode numbers and clock readings exceed what a JSON number carries exactly. */
static void put_decimal(struct text *t, const char *key, uint64_t value) {
  put_key(t, key);
  text_add(t, "\"");
  text_unsigned(t, value);
  text_add(t, "\"");
}

static void put_optional(struct text *t, const char *key, int value) {
  put_key(t, key);
  if (value == ABSENT) text_add(t, "null");
  else text_signed(t, value);
}

/* The fields that bind a receipt to one launch. The order of keys is part of the format (receipt.ts). */
static void put_binding(struct guardian *g, struct text *t, enum slot_name name, const char *kind) {
  text_add(t, "{\"v\":1");
  put_string(t, "kind", kind);
  if (name == SLOT_EXIT) put_string(t, "claim", "no-descendants");
  put_string(t, "scope", g->scope);
  put_string(t, "nonce", g->slot[name].nonce);
  put_string(t, "installation", g->installation);
  put_string(t, "boot", g->boot);
  put_decimal(t, "pidns", g->pidns);
  put_decimal(t, "timens", g->timens);
  put_number(t, "uid", g->uid);
  put_key(t, "guardian");
  identity_text(t, &g->self);
  put_key(t, "workload");
  identity_text(t, &g->child);
  put_key(t, "enclosing");
  text_add(t, g->enclosing[0] == '\0' ? "null" : g->enclosing);
}

static void put_outcome(const struct guardian *g, struct text *t) {
  const struct outcome *o = &g->outcome;
  put_string(t, "how", how_names[o->how]);
  put_optional(t, "code", o->code);
  put_optional(t, "signal", o->signal);
  put_optional(t, "errno", o->error);
  put_number(t, "waitStatus", (uint64_t)o->wait_status);
}

static bool publish(struct guardian *g, enum slot_name name, struct text *t) {
  put_decimal(t, "atNs", boottime_ns());
  text_add(t, "}");
  return slot_publish(g, name, t);
}

bool receipt_start(struct guardian *g) {
  char buffer[RECEIPT_BYTES + 1];
  struct text t = TEXT_OVER(buffer);
  put_binding(g, &t, SLOT_START, "start");
  return publish(g, SLOT_START, &t);
}

bool receipt_status(struct guardian *g) {
  char buffer[RECEIPT_BYTES + 1];
  struct text t = TEXT_OVER(buffer);
  put_binding(g, &t, SLOT_STATUS, "status");
  put_outcome(g, &t);
  return publish(g, SLOT_STATUS, &t);
}

/*
 * Repeats the status, because the status receipt is not synced and this one is. A workload that disappeared without
 * having been reaped here leaves no receipt: there is nothing true to say about its end.
 */
bool receipt_exit(struct guardian *g) {
  char buffer[RECEIPT_BYTES + 1];
  struct text t = TEXT_OVER(buffer);
  if (g->outcome.how == HOW_PENDING) return false;
  put_binding(g, &t, SLOT_EXIT, "exit");
  put_outcome(g, &t);
  put_string(&t, "proof", "ECHILD");
  put_number(&t, "reaped", g->reaped);
  put_number(&t, "adopted", g->adopted);
  put_key(&t, "terminated");
  text_add(&t, g->terminated ? "true" : "false");
  put_number(&t, "lostNested", g->lost_nested);
  return publish(g, SLOT_EXIT, &t);
}

#include <sys/stat.h>
#include <unistd.h>

#include "note.h"

static void add_number(struct text *t, const char *key, int value) {
  text_add(t, key);
  if (value == ABSENT) text_add(t, "null");
  else text_signed(t, value);
}

/* Names are of letters that JSON knows no escapes for. */
static void add_name(struct text *t, const char *key, const char *value) {
  text_add(t, key);
  if (value == NULL) {
    text_add(t, "null");
    return;
  }
  text_add(t, "\"");
  text_add(t, value);
  text_add(t, "\"");
}

/* What was asked for and cannot be said is left out: the rest is worth more than nothing. */
static enum fate add_place(struct text *t, const struct request *r, struct text *said) {
  if (r->worktree != NULL && place_text(t, r->worktree, said)) return TOLD;
  text_add(t, ",\"place\":null");
  return r->worktree == NULL ? TOLD : PARTLY;
}

static enum fate add_label(struct text *t, const struct request *r, struct text *said) {
  const struct text before = *t;
  text_add(t, ",\"label\":");
  if (r->label != NULL && json_string(t, r->label, LABEL_UNITS)) return TOLD;
  *t = before;
  text_add(t, ",\"label\":null");
  if (r->label == NULL) return TOLD;
  say(said, "the label is longer than 200 characters, or not UTF-8", 0);
  return PARTLY;
}

static enum fate add_what(struct text *t, const struct request *r, struct text *said) {
  switch (r->kind) {
    case KIND_RESERVE: {
      enum fate label = add_label(t, r, said), place = add_place(t, r, said);
      add_name(t, ",\"retryOf\":", r->retry_of);
      return label == TOLD ? place : label;
    }
    case KIND_BIND:
      return process_text(t, r->pid, said) ? add_place(t, r, said) : NOT_TOLD;
    case KIND_PLACE:
      return place_text(t, r->worktree, said) ? TOLD : NOT_TOLD;
    default:
      add_number(t, ",\"code\":", r->code);
      add_number(t, ",\"signal\":", r->signal);
      return TOLD;
  }
}

/* Everything between the number and the sum. Taken before the lock: a directory may be on a file system that answers slowly. */
static enum fate compose(struct text *t, const struct request *r, const char *boot, struct text *said) {
  static const char *const types[] = {"run.reserve", "run.bind", "run.place", "run.exit"};
  text_add(t, ",\"at\":{\"wallMs\":");
  text_signed(t, r->wall_ms);
  text_add(t, ",\"monoMs\":");
  text_signed(t, r->began_ms);
  add_name(t, ",\"bootId\":", boot);
  add_name(t, "},\"type\":", types[r->kind]);
  add_name(t, ",\"run\":", r->run);
  enum fate fate = add_what(t, r, said);
  if (!t->full) return fate;
  say(said, "the note is too long", 0);
  return NOT_TOLD;
}

/* A tenth of the bound is left for saying so when the lock cannot be had. */
static int64_t lock_until(const struct request *r) { return r->began_ms + (int64_t)(r->wait_ms - r->wait_ms / 10); }

enum fate work(const struct request *r, struct text *said) {
  char buffer[NOTE_BYTES - HEAD_BYTES - SUM_BYTES], boot[BOOT_LETTERS + 1];
  struct text body = TEXT_OVER(buffer);
  umask(077);
  int dir = spool_directory(r, said);
  if (dir < 0) return NOT_TOLD;
  step("entered");
  if (!boot_read(boot)) {
    say(said, "/proc is not usable here", 0);
    if (!counter_trace(dir)) say(said, "no trace of that could be left", 0);
    return NOT_TOLD;
  }
  enum fate fate = compose(&body, r, boot, said);
  enum written written = NO_NUMBER;
  if (fate != NOT_TOLD) written = note_write(dir, &(struct draft){r->producer, boot, &body, lock_until(r)}, said);
  else {
    struct counter counter;
    if (counter_open(dir, boot, &counter)) close(counter.fd);
  }
  bool is_whole = written == WRITTEN && fate == TOLD;
  if (is_whole || written == NUMBER_LOST) return is_whole ? TOLD : NOT_TOLD;
  step("lost");
  if (!counter_trace(dir)) say(said, "no trace of that could be left", 0);
  return written == WRITTEN ? PARTLY : NOT_TOLD;
}

/*
 * The counter as bytes: fields of fixed length in the order of `record_write`, then the SHA-256 of all before it and a
 * line feed. A record that is not what was written is noticed, and never gives a number out again.
 *
 *   custody-notes 2 STREAM NEXT FOLDED SETTLED HELD MARK-STREAM BOOT SUM\n      COUNTER_BYTES
 *   custody-notes 1 STREAM NEXT FOLDED BOOT\n                                   FORMER_BYTES, of clients before there was a sum
 */
#include <string.h>
#include <unistd.h>

#include "note.h"

static const char magic[] = "custody-notes 2 ", former[] = "custody-notes 1 ";
enum { MAGIC_BYTES = sizeof magic - 1, SUMMED_BYTES = COUNTER_BYTES - DIGEST_HEX - 1 };
_Static_assert(MAGIC_BYTES + 2 * (STREAM_DIGITS + 1) + 5 * (SEQ_DIGITS + 1) + BOOT_LETTERS + 1 == SUMMED_BYTES,
               "the record has exactly this length");

void padded(struct text *t, uint64_t value) {
  char digits[24];
  struct text plain = TEXT_OVER(digits);
  text_unsigned(&plain, value);
  for (size_t at = plain.used; at < SEQ_DIGITS; at++) text_add(t, "0");
  text_bytes(t, plain.at, plain.used);
}

static void add_field(struct text *t, const char *value) {
  text_add(t, value);
  text_add(t, " ");
}

static void add_number(struct text *t, uint64_t value, const char *after) {
  padded(t, value);
  text_add(t, after);
}

static void sum_of(const char *record, char sum[DIGEST_HEX + 1]) {
  struct digest digest;
  digest_begin(&digest);
  digest_add(&digest, record, SUMMED_BYTES);
  digest_end(&digest, sum);
}

bool record_write(const struct counter *c) {
  char buffer[COUNTER_BYTES + 1], sum[DIGEST_HEX + 1];
  struct text line = TEXT_OVER(buffer);
  text_add(&line, magic);
  add_field(&line, c->stream);
  add_number(&line, c->next, " ");
  add_number(&line, c->folded, " ");
  add_number(&line, c->settled, " ");
  add_number(&line, c->held, " ");
  add_number(&line, c->mark, "-");
  add_field(&line, c->mark == 0 ? c->stream : c->mark_stream);
  add_field(&line, c->boot);
  sum_of(line.at, sum);
  text_add(&line, sum);
  text_add(&line, "\n");
  return !line.full && pwrite(c->fd, line.at, COUNTER_BYTES, 0) == COUNTER_BYTES;
}

static bool take_text(const char **at, char *into, size_t length, char after) {
  if ((*at)[length] != after) return false;
  memcpy(into, *at, length);
  into[length] = '\0';
  *at += length + 1;
  return true;
}

static bool take_number(const char **at, uint64_t *into, char after) {
  char digits[SEQ_DIGITS + 1];
  return take_text(at, digits, SEQ_DIGITS, after) && parse_unsigned(digits, LAST_SEQ, into);
}

static bool take_stream(const char **at, char *into) {
  return take_text(at, into, STREAM_DIGITS, ' ') && strspn(into, "0123456789abcdef") == STREAM_DIGITS;
}

static bool take_start(const char **at, struct counter *c) {
  *at += MAGIC_BYTES;
  return take_stream(at, c->stream) && take_number(at, &c->next, ' ') && c->next > 0 && take_number(at, &c->folded, ' ');
}

static bool is_what_was_written(const char *record) {
#ifdef CUSTODY_WITHOUT_SUM
  (void)record, (void)sum_of;
  return true;
#else
  char sum[DIGEST_HEX + 1];
  sum_of(record, sum);
  return memcmp(record + SUMMED_BYTES, sum, DIGEST_HEX) == 0 && record[COUNTER_BYTES - 1] == '\n';
#endif
}

/* False for anything but a whole record: whoever has the lock then begins another stream. */
bool record_read(struct counter *c) {
  char record[COUNTER_BYTES];
  const char *at = record;
  ssize_t length = pread(c->fd, record, sizeof record, 0);
  c->settled = c->held = c->mark = 0;
  c->is_former = length >= FORMER_BYTES && memcmp(record, former, MAGIC_BYTES) == 0;
  if (c->is_former) return take_start(&at, c) && take_text(&at, c->boot, BOOT_LETTERS, '\n');
  if (length != COUNTER_BYTES || memcmp(record, magic, MAGIC_BYTES) != 0 || !is_what_was_written(record)) return false;
  return take_start(&at, c) && take_number(&at, &c->settled, ' ') && take_number(&at, &c->held, ' ') &&
         take_number(&at, &c->mark, '-') && take_stream(&at, c->mark_stream) && take_text(&at, c->boot, BOOT_LETTERS, ' ');
}

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "note.h"

static const char draft_name[] = ".note";

static bool write_whole(int fd, const struct text *part) {
  for (size_t done = 0; done < part->used;) {
    ssize_t wrote = write(fd, part->at + done, part->used - done);
    if (wrote <= 0) return false;
    done += (size_t)wrote;
  }
  return true;
}

static bool head_text(struct text *head, const struct draft *draft, const char *stream, uint64_t seq) {
  text_add(head, "{\"v\":1,\"producer\":\"");
  text_add(head, draft->producer);
  text_add(head, "\",\"stream\":\"");
  text_add(head, stream);
  text_add(head, "\",\"seq\":");
  text_unsigned(head, seq);
  return !head->full;
}

/* Over all bytes before it, so that whoever reads the line need not take it apart first. */
static void sum_text(struct text *sum, const struct text *head, const struct text *body) {
  struct digest digest;
  char hex[DIGEST_HEX + 1];
  digest_begin(&digest);
  digest_add(&digest, head->at, head->used);
  digest_add(&digest, body->at, body->used);
  digest_end(&digest, hex);
  text_add(sum, ",\"sum\":\"");
  text_add(sum, hex);
  text_add(sum, "\"}\n");
}

void note_name(struct text *name, const char *stream, uint64_t seq) {
  padded(name, seq);
  text_add(name, "-");
  text_add(name, stream);
  text_add(name, ".json");
}

/* Under the lock, so one name does for all drafts, and what a killed call has left is the next one's to remove. */
static bool write_draft(int dir, const char *as, const struct text *head, const struct text *body) {
  char buffer[SUM_BYTES];
  struct text sum = TEXT_OVER(buffer);
  sum_text(&sum, head, body);
  unlinkat(dir, as, 0);
  int fd = openat(dir, as, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  step("draftMade");
  bool whole = write_whole(fd, head);
  step("headWritten");
  whole = whole && write_whole(fd, body) && write_whole(fd, &sum);
  step("bodyWritten");
  whole = whole && fdatasync(fd) == 0;
  int error = errno;
  close(fd);
  errno = error;
  return whole;
}

/* A link and not a rename: it takes the place of nothing, whatever a damaged counter says. */
static bool publish(int dir, const char *as) {
#ifdef CUSTODY_WITHOUT_DRAFT
  (void)dir, (void)as;
  return true;
#else
  step("synced");
  if (linkat(dir, draft_name, dir, as, 0) != 0) return false;
  step("linked");
  unlinkat(dir, draft_name, 0);
  return true;
#endif
}

static enum written write_numbered(int dir, const struct draft *draft, const struct counter *c, uint64_t seq) {
  char head_buffer[HEAD_BYTES], name_buffer[SEQ_DIGITS + STREAM_DIGITS + 8];
  struct text head = TEXT_OVER(head_buffer), name = TEXT_OVER(name_buffer);
  note_name(&name, c->stream, seq);
  if (!head_text(&head, draft, c->stream, seq)) return NUMBER_LOST;
#ifdef CUSTODY_WITHOUT_DRAFT
  const char *as = name.at;
#else
  const char *as = draft_name;
#endif
  if (write_draft(dir, as, &head, draft->body) && publish(dir, name.at)) return WRITTEN;
  int error = errno;
  unlinkat(dir, draft_name, 0);
  errno = error;
  return error == EEXIST ? NO_NUMBER : NUMBER_LOST; /* somebody else's note has that number: it will not be missed */
}

enum written note_write(int dir, const struct draft *draft, struct text *said) {
  struct counter counter = {.fd = -1};
  enum written written = NO_NUMBER;
  uint64_t seq = 0;
  if (!counter_open(dir, draft->boot, &counter)) say(said, "the counter cannot be made or opened", errno);
  else if (!counter_lock(dir, draft->boot, &counter, draft->until_ms)) say(said, "the counter is locked by another call", 0);
  else {
    step("locked");
    enum granted granted = counter_take(dir, draft->boot, &counter, &seq);
    if (granted == NOTHING) say(said, "the counter cannot be written", errno);
    else if (granted == NUMBER_IN_VAIN) {
      written = NUMBER_LOST;
      say(said, "the spool is full, and nobody takes it in: custody observe ingest", 0);
    } else {
      step("numbered");
      written = write_numbered(dir, draft, &counter, seq);
      if (written != WRITTEN) say(said, "the note cannot be written", errno);
      else counter_written(&counter, seq);
    }
  }
  if (counter.fd >= 0) close(counter.fd);
  return written;
}

/*
 * One file per producer says which number is next. It is written once in full and then only in place, so that numbers
 * go on when the disk is full. Two things are in it:
 *
 *   the record (record.c)       changed by whoever holds the lock, in one write
 *   ....                        behind it one byte for each note that never got a number
 *
 * A trace is appended without the lock, because the usual reason for one is that the lock could not be had. Whoever has
 * the lock next leaves out as many numbers as there are new traces: from then on they are holes like all others.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "note.h"

static const char name[] = "counter";

static bool new_stream(struct counter *c, const char *boot) {
  static const char hex[] = "0123456789abcdef";
  unsigned char bytes[STREAM_DIGITS / 2];
  if (getrandom(bytes, sizeof bytes, GRND_NONBLOCK) != sizeof bytes) return false;
  for (size_t at = 0; at < sizeof bytes; at++) {
    c->stream[2 * at] = hex[bytes[at] >> 4];
    c->stream[2 * at + 1] = hex[bytes[at] & 15];
  }
  c->stream[STREAM_DIGITS] = '\0';
  memcpy(c->boot, boot, BOOT_LETTERS + 1);
  c->next = 1;
  return true;
}

/* Complete before it has its name, and never in the place of another one: several calls may do this at once. */
static bool make(int dir, const char *boot) {
  char buffer[STREAM_DIGITS + 16];
  struct text draft = TEXT_OVER(buffer);
  struct counter fresh = {.folded = 0, .held = 0};
  if (!new_stream(&fresh, boot)) return false;
  text_add(&draft, ".counter-");
  text_add(&draft, fresh.stream);
  fresh.fd = openat(dir, draft.at, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fresh.fd < 0) return false;
  bool made = record_write(&fresh) && fdatasync(fresh.fd) == 0;
  step("counterMade");
  made = made && (linkat(dir, draft.at, dir, name, 0) == 0 || errno == EEXIST);
  int error = errno;
  close(fresh.fd);
  unlinkat(dir, draft.at, 0);
  errno = error;
  return made;
}

/* Never waits: a pipe under this name is opened without its other end, and refused. */
static int open_counter(int dir, int flags) {
  struct stat node;
  int fd = openat(dir, name, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return -1;
  if (fstat(fd, &node) == 0 && S_ISREG(node.st_mode) && node.st_uid == geteuid()) return fd;
  close(fd);
  errno = EINVAL;
  return -1;
}

bool counter_open(int dir, const char *boot, struct counter *c) {
  for (int tries = 0; tries < 8; tries++) {
    c->fd = open_counter(dir, O_RDWR);
    if (c->fd >= 0) return true;
    if (errno != ENOENT || !make(dir, boot)) return false;
  }
  return false;
}

static void wake(int number) { (void)number; }

/* flock(2) has no timeout; a timer that goes on firing interrupts it, also if it fired just before the call. */
static bool lock_until(int fd, int64_t until_ms) {
#ifdef CUSTODY_WITHOUT_LOCK
  (void)fd, (void)until_ms, (void)wake;
  return true;
#else
  struct sigaction act = {.sa_handler = wake}, standard = {.sa_handler = SIG_DFL};
  struct itimerval every = {.it_interval = {.tv_usec = 2000}, .it_value = {.tv_usec = 2000}}, never = {.it_value = {0}};
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) return true;
  sigaction(SIGALRM, &act, NULL);
  setitimer(ITIMER_REAL, &every, NULL);
  bool locked = false;
  while (!locked && now_ms() < until_ms) {
    locked = flock(fd, LOCK_EX) == 0;
    if (!locked && errno != EINTR) break;
  }
  setitimer(ITIMER_REAL, &never, NULL);
  sigaction(SIGALRM, &standard, NULL);
  alarm(WORK_SECONDS); /* the same timer: the bound of the whole fork is set again */
  return locked;
#endif
}

/* The lock counts only on the file that has the name: the spool may be removed while somebody waits for it. */
bool counter_lock(int dir, const char *boot, struct counter *c, int64_t until_ms) {
  for (int tries = 0; tries < 8; tries++) {
    struct stat node;
    if (!lock_until(c->fd, until_ms)) return false;
    if (fstat(c->fd, &node) == 0 && node.st_nlink > 0) return true;
    close(c->fd);
    if (!counter_open(dir, boot, c)) return false;
  }
  return false;
}

/*
 * A stream lasts as long as its boot: the counter is not synced, so after a power loss it may say less than it had given
 * out, and a number must never mean two notes. The empty file says up to where the ended stream had come, which nobody
 * could tell from its last note when the ones behind were lost.
 */
static bool end_stream(int dir, const struct counter *c) {
  char buffer[SEQ_DIGITS + STREAM_DIGITS + 8];
  struct text end = TEXT_OVER(buffer);
  padded(&end, c->next - 1);
  text_add(&end, "-");
  text_add(&end, c->stream);
  text_add(&end, ".end");
  int fd = openat(dir, end.at, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return errno == EEXIST;
  close(fd);
  return true;
}

/* Bytes behind the record, as the file is and as it will be once the record has its present length. */
static uint64_t behind(const struct stat *node, uint64_t record) {
  return node->st_size > (off_t)record ? (uint64_t)node->st_size - record : 0;
}

/* A stream that goes on, another one, or false. How many numbers have to be left out goes into `missing`. */
static bool find_stream(int dir, const char *boot, const struct stat *node, struct counter *c, uint64_t *missing) {
  bool whole = record_read(c);
  uint64_t traces = behind(node, c->is_former ? FORMER_BYTES : COUNTER_BYTES);
  if (!whole || c->folded > traces || c->next > LAST_SEQ - (traces - c->folded) - 1) {
    c->settled = c->held = c->mark = 0;
    *missing = 1; /* what this counter had lost behind its last note is not known any more, and this shows that */
    return new_stream(c, boot);
  }
  *missing = traces - c->folded;
  if (!c->is_former && strcmp(c->boot, boot) == 0) return true;
  if (!end_stream(dir, c)) return false;
  step("streamEnded");
  c->settled = 0;
  return new_stream(c, boot);
}

/*
 * Whoever takes notes in removes them in order, so while the mark is there, so are all that were written after it: one
 * look at one name, where a directory would have to be counted. Once it is gone, what is left is counted from the next
 * note on, so at most twice as many lie here.
 */
static bool is_full(int dir, struct counter *c) {
  char buffer[SEQ_DIGITS + STREAM_DIGITS + 8];
  struct text mark = TEXT_OVER(buffer);
  if (c->held < SPOOL_NOTES) return false;
  note_name(&mark, c->mark_stream, c->mark);
  if (faccessat(dir, mark.at, F_OK, AT_SYMLINK_NOFOLLOW) == 0) return true;
  c->held = c->mark = 0;
  return false;
}

/* Under the lock. After anything but NOTHING the number is used up, whatever happens next. */
enum granted counter_take(int dir, const char *boot, struct counter *c, uint64_t *seq) {
  struct stat node;
  uint64_t missing = 0;
  if (fstat(c->fd, &node) != 0 || !find_stream(dir, boot, &node, c, &missing)) return NOTHING;
#ifndef CUSTODY_WITHOUT_FOLDING
  c->next += missing;
#endif
  c->folded = behind(&node, COUNTER_BYTES);
  *seq = c->next++;
  bool full = is_full(dir, c);
  if (full) c->settled = *seq;
  if (!record_write(c)) return NOTHING;
  return full ? NUMBER_IN_VAIN : NUMBER;
}

/* Still under the lock. Whoever is killed before it leaves a note that is not counted, and nothing else. */
void counter_written(struct counter *c, uint64_t seq) {
  if (c->held++ == 0) {
    c->mark = seq;
    memcpy(c->mark_stream, c->stream, sizeof c->stream);
  }
  record_write(c);
}

/* Without the lock: bytes that are appended do not disturb each other (open(2), O_APPEND). */
bool counter_trace(int dir) {
#ifdef CUSTODY_WITHOUT_TRACE
  (void)dir;
  return true;
#else
  struct stat node;
  int fd = open_counter(dir, O_WRONLY | O_APPEND);
  if (fd < 0) return false;
  bool left = fstat(fd, &node) == 0 && node.st_size >= FORMER_BYTES && write(fd, ".", 1) == 1;
  close(fd);
  return left;
#endif
}

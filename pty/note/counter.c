/*
 * One file per producer says which number is next. It is written once in full and then only in place, so that numbers
 * go on when the disk is full. Two things are in it:
 *
 *   custody-notes 1 STREAM NEXT FOLDED BOOT\n     128 bytes, changed by whoever holds the lock, in one write
 *   ....                                          behind them one byte for each note that never got a number
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

static const char name[] = "counter", magic[] = "custody-notes 1 ";
enum {
  STREAM_AT = sizeof magic - 1,
  NEXT_AT = STREAM_AT + STREAM_DIGITS + 1,
  FOLDED_AT = NEXT_AT + SEQ_DIGITS + 1,
  BOOT_AT = FOLDED_AT + SEQ_DIGITS + 1,
};
_Static_assert(BOOT_AT + BOOT_LETTERS + 1 == COUNTER_BYTES, "the record has exactly this length");

/* Readers keep numbers in doubles. */
static const uint64_t last_seq = 9007199254740991u;

static void padded(struct text *t, uint64_t value) {
  char digits[24];
  struct text plain = TEXT_OVER(digits);
  text_unsigned(&plain, value);
  for (size_t at = plain.used; at < SEQ_DIGITS; at++) text_add(t, "0");
  text_bytes(t, plain.at, plain.used);
}

static bool write_record(const struct counter *c) {
  char buffer[COUNTER_BYTES + 1];
  struct text line = TEXT_OVER(buffer);
  text_add(&line, magic);
  text_add(&line, c->stream);
  text_add(&line, " ");
  padded(&line, c->next);
  text_add(&line, " ");
  padded(&line, c->folded);
  text_add(&line, " ");
  text_add(&line, c->boot);
  text_add(&line, "\n");
  return !line.full && pwrite(c->fd, line.at, COUNTER_BYTES, 0) == COUNTER_BYTES;
}

static bool field(char *record, size_t at, size_t length, char after) {
  if (record[at + length] != after) return false;
  record[at + length] = '\0';
  return true;
}

/* False for anything but a whole record: whoever has the lock then begins another stream. */
static bool read_record(struct counter *c) {
  char record[COUNTER_BYTES];
  if (pread(c->fd, record, sizeof record, 0) != COUNTER_BYTES || memcmp(record, magic, STREAM_AT) != 0) return false;
  if (!field(record, STREAM_AT, STREAM_DIGITS, ' ') || !field(record, NEXT_AT, SEQ_DIGITS, ' ')) return false;
  if (!field(record, FOLDED_AT, SEQ_DIGITS, ' ') || !field(record, BOOT_AT, BOOT_LETTERS, '\n')) return false;
  memcpy(c->stream, record + STREAM_AT, STREAM_DIGITS + 1);
  memcpy(c->boot, record + BOOT_AT, BOOT_LETTERS + 1);
  if (strspn(c->stream, "0123456789abcdef") != STREAM_DIGITS) return false;
  if (!parse_unsigned(record + NEXT_AT, last_seq, &c->next) || c->next == 0) return false;
  return parse_unsigned(record + FOLDED_AT, last_seq, &c->folded);
}

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
  struct counter fresh = {.folded = 0};
  if (!new_stream(&fresh, boot)) return false;
  text_add(&draft, ".counter-");
  text_add(&draft, fresh.stream);
  fresh.fd = openat(dir, draft.at, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fresh.fd < 0) return false;
  bool made = write_record(&fresh) && fdatasync(fresh.fd) == 0;
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

/* Under the lock. After true the number is used up, whatever happens next. */
bool counter_take(int dir, const char *boot, struct counter *c, uint64_t *seq) {
  struct stat node;
  if (fstat(c->fd, &node) != 0) return false;
  bool whole = read_record(c);
  uint64_t traces = node.st_size > COUNTER_BYTES ? (uint64_t)node.st_size - COUNTER_BYTES : 0;
  if (!whole || c->folded > traces || c->next > last_seq - (traces - c->folded) - 1) {
    c->folded = traces; /* what is behind a damaged record says nothing */
    if (!new_stream(c, boot)) return false;
  } else if (strcmp(c->boot, boot) != 0) {
    if (!end_stream(dir, c)) return false;
    step("streamEnded");
    if (!new_stream(c, boot)) return false;
  }
#ifndef CUSTODY_WITHOUT_FOLDING
  c->next += traces - c->folded;
#endif
  c->folded = traces;
  *seq = c->next++;
  return write_record(c);
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
  bool left = fstat(fd, &node) == 0 && node.st_size >= COUNTER_BYTES && write(fd, ".", 1) == 1;
  close(fd);
  return left;
#endif
}

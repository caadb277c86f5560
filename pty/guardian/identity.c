#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "guardian.h"
#include "kernel.h"

#ifndef PIDFS_MAGIC
#define PIDFS_MAGIC 0x50494446
#endif

/* Reads a whole small file of procfs in one call, so that the kernel renders it at one moment. */
bool proc_read(struct text *path, char *buffer, size_t room, size_t *length) {
  if (path->full) return false;
  int fd = open(path->at, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t got = read(fd, buffer, room - 1);
  close(fd);
  if (got < 0) return false;
  buffer[got] = '\0';
  *length = (size_t)got;
  return true;
}

static const char *next_field(const char *at) {
  const char *space = strchr(at, ' ');
  return space == NULL ? "" : space + 1;
}

static uint64_t field_value(const char *at) {
  uint64_t value = 0;
  for (; *at >= '0' && *at <= '9'; at++) value = value * 10 + (uint64_t)(*at - '0');
  return value;
}

/* The name may hold anything, `) R 1 1` included, so the fields are counted from the last parenthesis. */
static bool parse_stat(const char *text, size_t length, struct proc_stat *out) {
  const char *at = memrchr(text, ')', length);
  if (at == NULL || at[1] != ' ' || at[2] == '\0') return false;
  at += 2;
  out->state = *at;
  for (int field = 4; field <= 22; field++) {
    at = next_field(at);
    if (field == 4) out->ppid = (pid_t)field_value(at);
    if (field == 20) out->threads = field_value(at);
  }
  out->start = field_value(at);
  return *at != '\0';
}

/* thread 0 asks for the process; otherwise for one of its threads. False: gone, hidden or unreadable. */
bool proc_stat(pid_t pid, pid_t thread, struct proc_stat *out) {
  char name[64], buffer[1024];
  size_t length = 0;
  struct text path = TEXT_OVER(name);
  text_add(&path, "/proc/");
  text_unsigned(&path, (uint64_t)pid);
  if (thread != 0) {
    text_add(&path, "/task/");
    text_unsigned(&path, (uint64_t)thread);
  }
  text_add(&path, "/stat");
  return proc_read(&path, buffer, sizeof buffer, &length) && parse_stat(buffer, length, out);
}

/* Since 6.9 the inode of a pidfd is a 64-bit counter that is never reused; before, all pidfds share one inode. */
uint64_t pidfs_number(int pidfd) {
  struct statfs kind;
  struct stat node;
  if (fstatfs(pidfd, &kind) != 0 || (unsigned long)kind.f_type != PIDFS_MAGIC) return 0;
  if (fstat(pidfd, &node) != 0) return 0;
  return node.st_ino;
}

bool identify(pid_t pid, int pidfd, struct identity *out) {
  struct proc_stat stat;
  if (!proc_stat(pid, 0, &stat)) return false;
  *out = (struct identity){.pid = pid, .start = stat.start, .pidfs = pidfs_number(pidfd)};
  return true;
}

void identity_text(struct text *t, const struct identity *id) {
  text_add(t, "{\"pid\":");
  text_unsigned(t, (uint64_t)id->pid);
  text_add(t, ",\"start\":\"");
  text_unsigned(t, id->start);
  text_add(t, "\",\"pidfs\":");
  if (id->pidfs == 0) {
    text_add(t, "null}");
    return;
  }
  text_add(t, "\"");
  text_unsigned(t, id->pidfs);
  text_add(t, "\"}");
}

/*
 * Sends to exactly this process or to nobody: the descriptor is taken first and the start time is read while it is
 * held, so a pid that was reused in between either differs in start or is a descriptor of a dead process. Where the
 * member carries the number of its pidfd already, that is compared instead, which is quicker and sharper.
 * Returns 0 or the error: ESRCH (no such process), ESTALE (another one), EPERM.
 */
int signal_known(struct member *m, int number) {
  int result = 0;
  int pidfd = open_pidfd(m->pid);
  if (pidfd < 0) return errno == EINVAL ? ESRCH : errno;
#ifndef CUSTODY_WITHOUT_IDENTITY_CHECK
  struct proc_stat stat;
  uint64_t seen = pidfs_number(pidfd);
  if (m->pidfs != 0) result = seen == m->pidfs ? 0 : ESTALE;
  else if (!proc_stat(m->pid, 0, &stat)) result = ESRCH;
  else if (stat.start != m->start) result = ESTALE;
  else m->pidfs = seen;
#endif
  if (result == 0 && signal_pidfd(pidfd, number) != 0) result = errno;
  close(pidfd);
  return result;
}

int signal_verified(pid_t pid, uint64_t start, int number) {
  struct member one = {.pid = pid, .start = start};
  return signal_known(&one, number);
}

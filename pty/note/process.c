#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../guardian/kernel.h"
#include "note.h"

static bool read_proc(const char *directory, const char *name, char *buffer, size_t room) {
  char path[64];
  size_t length = 0;
  struct text at = TEXT_OVER(path);
  text_add(&at, directory);
  text_add(&at, name);
  return proc_read(&at, buffer, room, &length);
}

bool boot_read(char boot[BOOT_LETTERS + 1]) {
  char buffer[64];
  if (!read_proc("/proc/sys/kernel/random", "/boot_id", buffer, sizeof buffer)) return false;
  if (strlen(buffer) != BOOT_LETTERS + 1 || strspn(buffer, "0123456789abcdef-") != BOOT_LETTERS) return false;
  memcpy(boot, buffer, BOOT_LETTERS);
  boot[BOOT_LETTERS] = '\0';
  return true;
}

/* The numbers of one line of a status file (proc_pid_status(5)): how many there are, and the first one. */
static unsigned status_numbers(const char *status, const char *label, uint64_t *first) {
  const char *at = strstr(status, label);
  unsigned count = 0;
  if (at == NULL) return 0;
  for (at += strlen(label); *at != '\0' && *at != '\n';) {
    uint64_t value = 0;
    if (*at < '0' || *at > '9') {
      at++;
      continue;
    }
    for (; *at >= '0' && *at <= '9'; at++) value = value * 10 + (uint64_t)(*at - '0');
    if (count++ == 0) *first = value;
  }
  return count;
}

/* A procfs of another PID namespace shows other people under our numbers. */
static bool proc_is_of_our_namespace(void) {
  char status[4096];
  uint64_t pid = 0, first = 0;
  if (!read_proc("/proc/self", "/status", status, sizeof status)) return false;
  if (status_numbers(status, "\nPid:", &pid) != 1 || pid != (uint64_t)getpid()) return false;
  return status_numbers(status, "\nNSpid:", &first) <= 1;
}

static uint64_t inode_of(const char *path) {
  struct stat node;
  return stat(path, &node) == 0 ? node.st_ino : 0;
}

/* The real user; false also for a thread that is no process: its number would name a part of one. */
static bool owner_of(pid_t pid, uint64_t *uid) {
  char directory[32], status[4096];
  uint64_t leader = 0;
  struct text path = TEXT_OVER(directory);
  text_add(&path, "/proc/");
  text_unsigned(&path, (uint64_t)pid);
  if (!read_proc(path.at, "/status", status, sizeof status)) return false;
  if (status_numbers(status, "\nTgid:", &leader) != 1 || leader != (uint64_t)pid) return false;
  return status_numbers(status, "\nUid:", uid) == 4;
}

static bool has_ended(const struct proc_stat *stat) {
  return (stat->state == 'Z' || stat->state == 'X' || stat->state == 'x') && stat->threads <= 1;
}

static void decimal(struct text *t, const char *key, uint64_t value) {
  text_add(t, key);
  text_unsigned(t, value);
  text_add(t, "\"");
}

/* stat, owner, stat: both looks must show the same start, or the pid has been taken over in between (ID-07). */
static bool identify_twice(pid_t pid, struct proc_stat *stat, uint64_t *uid) {
  struct proc_stat again;
  if (!proc_stat(pid, 0, stat) || has_ended(stat) || !owner_of(pid, uid)) return false;
  step("looked");
  return proc_stat(pid, 0, &again) && again.start == stat->start;
}

/*
 * In the terms of this process's own namespaces: procfs shows pids and start times of its reader's (time_namespaces(7)).
 * The descriptor is taken first, so that it is that of the process which is seen twice, or of one that has ended.
 */
bool process_text(struct text *t, pid_t pid, struct text *said) {
  struct proc_stat stat;
  uint64_t uid = 0, pidfs = 0;
  uint64_t pidns = inode_of("/proc/self/ns/pid"), timens = inode_of("/proc/self/ns/time"); /* 0 before Linux 5.6 */
  if (!proc_is_of_our_namespace() || pidns == 0) {
    say(said, "/proc is not usable here", 0);
    return false;
  }
#ifdef CUSTODY_WITHOUT_PIDFD
  int pidfd = -1; /* as before Linux 5.3 */
#else
  int pidfd = open_pidfd(pid);
#endif
  bool known = identify_twice(pid, &stat, &uid);
  if (pidfd >= 0) {
    if (signal_pidfd(pidfd, 0) != 0 && errno == ESRCH) known = false;
    pidfs = pidfs_number(pidfd);
    close(pidfd);
  }
  if (!known) {
    say(said, "the process is not there, or cannot be seen", 0);
    return false;
  }
  text_add(t, ",\"process\":{\"pid\":");
  text_unsigned(t, (uint64_t)pid);
  decimal(t, ",\"start\":\"", stat.start);
  text_add(t, ",\"uid\":");
  text_unsigned(t, uid);
  decimal(t, ",\"pidns\":\"", pidns);
  decimal(t, ",\"timens\":\"", timens);
  if (pidfs == 0) text_add(t, ",\"pidfs\":null}");
  else {
    decimal(t, ",\"pidfs\":\"", pidfs);
    text_add(t, "}");
  }
  return true;
}

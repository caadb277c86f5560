#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guardian.h"
#include "kernel.h"

/* The word (value of `hidepid=`) says how much of other users' processes this mount hides; 0 is "nothing". */
static bool line_hides(const char *line) {
  const char *mount = strstr(line, " /proc ");
  const char *option = strstr(line, "hidepid=");
  return mount != NULL && option != NULL && option > mount && option[8] != '0' && strncmp(option + 8, "off", 3) != 0;
}

/* Looks at the complete lines in the buffer; returns how many bytes of an unfinished line remain, moved to its start. */
static size_t scan_lines(char *buffer, size_t length, bool *hides) {
  char *line = buffer;
  for (char *end; (end = memchr(line, '\n', length - (size_t)(line - buffer))) != NULL; line = end + 1) {
    *end = '\0';
    *hides = *hides || line_hides(line);
  }
  size_t rest = length - (size_t)(line - buffer);
  memmove(buffer, line, rest);
  return rest;
}

/* Who may look into any process of its namespace sees it in every /proc, and is spared reading the mount table. */
static bool sees_everybody(void) {
  return (effective_capabilities() & 1u << CAP_SYS_PTRACE) != 0;
}

/*
 * A process that is not dumpable belongs to root in /proc. Where /proc hides the processes of others, that would make
 * the guardian invisible to its own user, and a living guardian would be taken for a lost one. What cannot be read
 * counts as hiding: staying dumpable costs some protection, being invisible costs the proof.
 */
bool proc_hides_pids(void) {
  char buffer[8192];
  size_t kept = 0;
  bool hides = false;
  if (sees_everybody()) return false;
  int fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return true;
  for (;;) {
    ssize_t got = read(fd, buffer + kept, sizeof buffer - kept);
    if (got < 0) hides = true;
    if (got <= 0) break;
    kept = scan_lines(buffer, kept + (size_t)got, &hides);
    if (kept == sizeof buffer) kept = 0; /* no option of /proc is this long: an overlay with many layers */
  }
  close(fd);
  return hides;
}

static uint64_t inode_of(const char *path) {
  struct stat node;
  return stat(path, &node) == 0 ? node.st_ino : 0;
}

/* False when /proc shows another pid namespace than ours: every identity in it would be somebody else's. */
static bool proc_is_ours(void) {
  char name[32];
  uint64_t pid = 0;
  ssize_t length = readlink("/proc/self", name, sizeof name - 1);
  if (length <= 0) return false;
  name[length] = '\0';
  return parse_unsigned(name, INT32_MAX, &pid) && (pid_t)pid == getpid();
}

bool context_read(struct guardian *g) {
  struct stat exe;
  size_t length = 0;
  char name[] = "/proc/sys/kernel/random/boot_id";
  struct text path = {.at = name, .used = sizeof name - 1, .room = sizeof name, .full = false};
  if (!proc_is_ours()) return false;
  if (!proc_read(&path, g->boot, sizeof g->boot, &length) || length < 36) return false;
  g->boot[36] = '\0';
  g->pidns = inode_of("/proc/self/ns/pid");
  g->timens = inode_of("/proc/self/ns/time"); /* 0 before Linux 5.6 */
  g->uid = geteuid();
  if (stat("/proc/self/exe", &exe) != 0) return false;
  g->exe_dev = exe.st_dev;
  g->exe_ino = exe.st_ino;
  int pidfd = open_pidfd(getpid());
  if (pidfd < 0) return false;
  bool known = identify(getpid(), pidfd, &g->self);
  close(pidfd);
  return known && g->pidns != 0;
}

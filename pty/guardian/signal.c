#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "guardian.h"

enum { RC_GONE = 3, RC_OTHER = 4, RC_NOT_PERMITTED = 5 };

/* The real uid, from the `Uid:` line: the owner of the directory in /proc is root for a process that is not dumpable. */
static bool real_uid(pid_t pid, uint64_t *uid) {
  char name[48], buffer[4096];
  size_t length = 0;
  struct text path = TEXT_OVER(name);
  text_add(&path, "/proc/");
  text_unsigned(&path, (uint64_t)pid);
  text_add(&path, "/status");
  if (!proc_read(&path, buffer, sizeof buffer, &length)) return false;
  const char *line = strstr(buffer, "\nUid:\t");
  if (line == NULL) return false;
  *uid = strtoull(line + 6, NULL, 10);
  return true;
}

/*
 * `signal PID START UID SIGNAL`: to exactly that process or to nobody. For orphans of a lost guardian, where no control
 * socket is left. Exit: 0 sent, 2 usage, 3 no such process, 4 another process or another user, 5 not permitted.
 */
int signal_command(char **argv) {
  uint64_t pid = 0, start = 0, uid = 0, number = 0, actual = 0;
  if (!parse_unsigned(argv[0], INT32_MAX, &pid) || pid == 0 || !parse_unsigned(argv[1], UINT64_MAX, &start) ||
      !parse_unsigned(argv[2], UINT32_MAX, &uid) || !parse_unsigned(argv[3], NSIG - 1, &number)) {
    return RC_USAGE;
  }
  if (!real_uid((pid_t)pid, &actual)) return RC_GONE;
#ifndef CUSTODY_WITHOUT_IDENTITY_CHECK
  if (actual != uid) return RC_OTHER;
#endif
  switch (signal_verified((pid_t)pid, start, (int)number)) {
    case 0: return 0;
    case ESRCH: return RC_GONE;
    case ESTALE: return RC_OTHER;
    default: return RC_NOT_PERMITTED;
  }
}

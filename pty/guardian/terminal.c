#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "guardian.h"

/*
 * A terminal belongs to one session, and only the leader of that session is hung up by the kernel. So the workload gets
 * a session of its own around it: then Ctrl-C, job control and hang-up reach the workload and never the guardian, and
 * the guardian's death takes no terminal away. Where the terminal is already the controlling one of a session with
 * somebody else as its leader, an interactive shell, that cannot be; there the workload becomes a job (job.c).
 */
static enum terminal_mode mode_found(void) {
  if (tcgetsid(0) < 0) return TERMINAL_NEW; /* ENOTTY: not the controlling terminal of this process */
#ifndef CUSTODY_WITHOUT_HANDOVER
  if (getsid(0) == getpid()) return TERMINAL_HELD;
#endif
#ifdef CUSTODY_WITHOUT_JOB_MODE
  return TERMINAL_NEW;
#else
  return TERMINAL_SHARED;
#endif
}

/*
 * Opened anew, through the descriptor that we were given: O_NONBLOCK belongs to the open file description, which our
 * launcher shares, and what the launcher did to its own must not reach the workload, nor ours the launcher.
 */
static int open_anew(int flags) { return open("/proc/self/fd/0", O_RDWR | O_NOCTTY | flags); }

/*
 * Decides what becomes of the terminal on descriptor 0 and keeps a descriptor of it, the only one of the workload's
 * things that a guardian holds: the end of the output is written through it. Before setsid, which would lose the terminal.
 */
void terminal_find(struct guardian *g) {
  if (g->spec.terminal == 0) return;
  if (!isatty(0)) refuse(g, RC_KERNEL, "terminal", ENOTTY);
  g->terminal = open_anew(O_NONBLOCK | O_CLOEXEC);
  if (g->terminal < 0) refuse(g, RC_KERNEL, "terminal", errno);
  g->mode = mode_found();
#ifndef CUSTODY_WITHOUT_NOTTY
  /* The hang-up that this sends to the foreground group reaches only ourselves, and is blocked. */
  if (g->mode == TERMINAL_HELD && ioctl(0, TIOCNOTTY) != 0) refuse(g, RC_KERNEL, "terminal", errno);
#endif
}

/* Whether nobody else writes to this terminal, so that the end of the workload's output is the end of the output. */
bool terminal_is_ours(const struct guardian *g) { return g->mode == TERMINAL_NEW || g->mode == TERMINAL_HELD; }

/* --- in the forked child ---------------------------------------------------------------------------------------- */

#ifndef CUSTODY_WITHOUT_OWN_STREAMS
/* Those of the three that are this terminal; `> file` in a shell stays what it is. */
static bool replace_streams(int fd) {
  struct stat wanted, found;
  if (fstat(fd, &wanted) != 0) return false;
  for (int at = 0; at <= 2; at++) {
    bool same = fstat(at, &found) == 0 && S_ISCHR(found.st_mode) && found.st_rdev == wanted.st_rdev;
    if (same && dup2(fd, at) != at) return false;
  }
  return true;
}
#endif

static bool take_streams(void) {
#ifndef CUSTODY_WITHOUT_OWN_STREAMS
  int fd = open_anew(O_CLOEXEC);
  if (fd < 0 || !replace_streams(fd)) return false;
  close(fd);
#endif
  return true;
}

/* Erasing one character of a line must erase all its bytes; whoever opened the terminal has not said that it is UTF-8. */
static bool expect_utf8(void) {
  struct termios settings;
  if (tcgetattr(0, &settings) != 0) return false;
  settings.c_iflag |= IUTF8;
  return tcsetattr(0, TCSANOW, &settings) == 0;
}

static bool take_terminal(void) {
  setsid();
#ifndef CUSTODY_WITHOUT_CTTY
  if (ioctl(0, TIOCSCTTY, 0) != 0) return false; /* also makes us its foreground group */
#endif
  return expect_utf8();
}

/* Makes the terminal the workload's; 0, or why that failed. */
int terminal_take(const struct guardian *g) {
  bool done = terminal_is_ours(g) ? take_terminal() : setpgid(0, 0) == 0;
  return done && take_streams() ? 0 : errno;
}

/* --- in the guardian -------------------------------------------------------------------------------------------- */

/* The child's word about terminal_take: a workload without its terminal must be refused while nothing has run. */
void terminal_await(struct guardian *g) {
  int error = ETIMEDOUT;
  struct pollfd word = {.fd = g->exec_error, .events = POLLIN};
  if (g->mode == TERMINAL_NONE) return;
  if (poll(&word, 1, (int)g->spec.handshake_ms) > 0 && read(g->exec_error, &error, sizeof error) <= 0) error = EPIPE;
  if (error != 0) refuse(g, RC_KERNEL, "terminal", error);
}

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "guardian.h"
#include "kernel.h"

enum { ANCESTORS_MAX = 4096 };

/* Whether `ancestor` is found on the way up from `pid`. Only ended processes lose their place on that way. */
static bool descends_from(pid_t pid, pid_t ancestor) {
  struct proc_stat stat;
  for (int depth = 0; depth < ANCESTORS_MAX && pid > 1; depth++) {
    if (!proc_stat(pid, 0, &stat)) return false;
    if (stat.ppid == ancestor) return true;
    pid = stat.ppid;
  }
  return false;
}

/* --- inner side ------------------------------------------------------------------------------------------------- */

static int connect_up(const struct guardian *g, const char *dir) {
  struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "ctl.sock"};
  struct ucred peer;
  socklen_t length = sizeof peer;
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  if (chdir(dir) != 0 || connect(fd, (struct sockaddr *)&name, sizeof name) != 0) goto failed;
  if (chdir("/") != 0 || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) goto failed;
  if (peer.uid == g->uid && descends_from(getpid(), peer.pid)) return fd;
  errno = EPERM; /* whoever listens there does not enclose us */
failed:
  close(fd);
  return -1;
}

/* The answer, without its newline; false when it does not come within the handshake. */
static bool hear(int fd, struct text *line, int64_t until) {
  for (;;) {
    struct pollfd up = {.fd = fd, .events = POLLIN};
    char byte;
    int64_t left = until - now_ms();
    if (poll(&up, 1, left > 0 ? (int)left : 0) == 0) return false;
    ssize_t got = recv(fd, &byte, 1, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (got <= 0 || line->full) return false;
    if (byte == '\n') return true;
    text_bytes(line, &byte, 1);
  }
}

/* What the enclosing guardian says about itself becomes the `enclosing` field of every receipt, word for word. */
static bool keep_enclosing(struct guardian *g, const struct text *line) {
  static const char yes[] = "{\"enrolled\":true,";
  struct text kept = TEXT_OVER(g->enclosing);
  if (strncmp(line->at, yes, sizeof yes - 1) != 0) return false;
  text_add(&kept, "{");
  text_add(&kept, line->at + sizeof yes - 1);
  return !kept.full;
}

/*
 * Makes the enclosing guardian spare us while it terminates its own tree, or refuses to start: a scope that could be
 * killed before its receipt is complete has no value. Must come before PR_SET_DUMPABLE 0, because the enclosing
 * guardian looks at our executable and an ordinary user may not look at that of a process that is not dumpable.
 */
void enrol_with_enclosing(struct guardian *g) {
  const char *dir = g->spec.up != NULL ? g->spec.up : getenv("CUSTODY_GUARDIAN_UP");
  char buffer[384], request[NAME_MAX_BYTES + 16];
  struct text line = TEXT_OVER(buffer), ask = TEXT_OVER(request);
  if (dir == NULL || dir[0] == '\0') return;
  int fd = connect_up(g, dir);
  if (fd < 0) refuse(g, RC_NOT_ENROLLED, "enrolConnect", errno);
  text_add(&ask, "enrol ");
  text_add(&ask, g->scope);
  text_add(&ask, "\n");
  if (send(fd, ask.at, ask.used, MSG_NOSIGNAL) != (ssize_t)ask.used) refuse(g, RC_NOT_ENROLLED, "enrolSend", errno);
  if (!hear(fd, &line, now_ms() + (int64_t)g->spec.handshake_ms)) refuse(g, RC_NOT_ENROLLED, "enrolAnswer", ETIMEDOUT);
  if (!keep_enclosing(g, &line)) refuse(g, RC_NOT_ENROLLED, "enrolRefused", EACCES);
  g->up = fd;
}

/* We enrolled before the fork. Whichever of the two is left shall be spared. */
void enrol_worker(const struct guardian *g) {
  char buffer[32];
  struct text line = TEXT_OVER(buffer);
  if (g->up < 0) return;
  text_add(&line, "worker ");
  text_unsigned(&line, (uint64_t)g->worker);
  text_add(&line, "\n");
  ssize_t ignored = send(g->up, line.at, line.used, MSG_NOSIGNAL | MSG_DONTWAIT);
  (void)ignored;
}

void enrol_done(struct guardian *g) {
  if (g->up < 0) return;
  ssize_t ignored = send(g->up, "done\n", 5, MSG_NOSIGNAL | MSG_DONTWAIT);
  (void)ignored;
}

/* This round is given up. The enclosing guardian may have more time, and ask again. */
void enrol_stalled(const struct guardian *g) {
  if (g->up < 0) return;
  ssize_t ignored = send(g->up, "stalled\n", 8, MSG_NOSIGNAL | MSG_DONTWAIT);
  (void)ignored;
}

/* --- outer side ------------------------------------------------------------------------------------------------- */

#ifndef CUSTODY_WITHOUT_EXE_CHECK
static int open_exe(const char *process) {
  char name[48];
  struct text path = TEXT_OVER(name);
  text_add(&path, "/proc/");
  text_add(&path, process);
  text_add(&path, "/exe");
  return open(path.at, O_RDONLY | O_CLOEXEC);
}

/* By content: a rebuilt or reinstalled guardian has another inode, and another version is known by its digest. */
static bool is_known_build(const struct guardian *g, int exe) {
  char theirs[DIGEST_HEX + 1], ours[DIGEST_HEX + 1];
  if (!digest_of(exe, theirs)) return false;
  for (size_t at = 0; at < g->builds; at++) {
    if (memcmp(g->build[at], theirs, DIGEST_HEX) == 0) return true;
  }
  int self = open_exe("self");
  bool same = self >= 0 && digest_of(self, ours) && memcmp(ours, theirs, DIGEST_HEX) == 0;
  if (self >= 0) close(self);
  return same;
}
#endif

/* A descendant that wants to be spared must be a guardian: our own executable, or a build known by its digest. */
static bool is_guardian(const struct guardian *g, pid_t pid) {
#ifdef CUSTODY_WITHOUT_EXE_CHECK
  (void)g, (void)pid;
  return true;
#else
  char process[24];
  struct text number = TEXT_OVER(process);
  struct stat exe;
  text_unsigned(&number, (uint64_t)pid);
  int fd = open_exe(number.at);
  if (fd < 0) return false;
  bool same = fstat(fd, &exe) == 0 && exe.st_dev == g->exe_dev && exe.st_ino == g->exe_ino;
  bool known = same || is_known_build(g, fd);
  close(fd);
  return known;
#endif
}

static const char *refusal(const struct guardian *g, struct client *c) {
  if (g->terminated) return "terminating";
  if (c->nested) return "alreadyEnrolled";
  c->pidfd = open_pidfd(c->peer.pid);
  if (c->pidfd < 0 || !identify(c->peer.pid, c->pidfd, &c->peer)) return "peerGone";
  if (!descends_from(c->peer.pid, g->worker)) return "notDescendant";
  if (!is_guardian(g, c->peer.pid)) return "notGuardian";
  /* Asked last, through the descriptor: all of the above was read about one and the same living process. */
  if (signal_pidfd(c->pidfd, 0) != 0) return "peerGone";
  return NULL;
}

void enrol_answer(struct guardian *g, struct client *c, const char *scope) {
  char buffer[384];
  struct text line = TEXT_OVER(buffer);
  (void)scope; /* a label for people who read the conversation; the identity comes from the kernel */
  const char *reason = refusal(g, c);
  if (reason != NULL) {
    text_add(&line, "{\"refused\":\"");
    text_add(&line, reason);
    text_add(&line, "\"}\n");
  } else {
    text_add(&line, "{\"enrolled\":true,\"scope\":\"");
    text_add(&line, g->scope);
    text_add(&line, "\",\"guardian\":");
    identity_text(&line, &g->self);
    text_add(&line, "}\n");
    c->nested = true;
  }
  client_send(g, c, line.at, line.used);
}

/* A child of the nested guardian, or ours because that has been lost; a guardian has no other child than this one. */
void enrol_note_worker(const struct guardian *g, struct client *c, const char *number) {
  uint64_t pid = 0;
  struct proc_stat stat;
  if (c->worker_fd >= 0 || !parse_unsigned(number, INT32_MAX, &pid)) return;
  int pidfd = open_pidfd((pid_t)pid);
  bool known = pidfd >= 0 && proc_stat((pid_t)pid, 0, &stat) && (stat.ppid == c->peer.pid || stat.ppid == g->worker) &&
               identify((pid_t)pid, pidfd, &c->worker) && signal_pidfd(pidfd, 0) == 0;
  if (known) c->worker_fd = pidfd;
  else if (pidfd >= 0) close(pidfd);
}

/* The one that enrolled remembers what it has been told and passes it on, unless it has gone or has been stopped by itself. */
static bool passes_on(const struct client *c) {
  struct pollfd ended = {.fd = c->pidfd, .events = POLLIN};
  struct proc_stat stat;
  return poll(&ended, 1, 0) == 0 && proc_stat(c->peer.pid, 0, &stat) && stat.state != 'T';
}

void nested_terminate(struct client *c) {
  signal_pidfd(c->worker_fd >= 0 && !passes_on(c) ? c->worker_fd : c->pidfd, SIGTERM);
}

/*
 * At ECHILD every nested guardian has ended; what it said last may still be unread. Whoever has not said `done` by then
 * never will.
 */
void nested_settle(struct guardian *g) {
  for (int at = 0; at < CLIENTS; at++) {
    struct client *c = &g->client[at];
    if (c->nested) client_ready(g, c);
    if (c->nested) client_drop(g, c);
  }
}

bool is_nested(const struct guardian *g, pid_t pid, uint64_t start) {
  for (int at = 0; at < CLIENTS; at++) {
    const struct client *c = &g->client[at];
    if (!c->nested) continue;
    if (c->peer.pid == pid && c->peer.start == start) return true;
    if (c->worker_fd >= 0 && c->worker.pid == pid && c->worker.start == start) return true;
  }
  return false;
}

/* Enrolled, and neither ended nor known to have completed its receipts. */
bool nested_unfinished(const struct guardian *g) {
#ifdef CUSTODY_WITHOUT_SPARING
  return g == NULL;
#endif
  for (int at = 0; at < CLIENTS; at++) {
    if (g->client[at].nested && !g->client[at].done) return true;
  }
  return false;
}

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "guardian.h"

enum { BACKLOG = 64 };

/*
 * Bound by a relative name from inside the directory: sun_path holds 108 bytes, paths are longer. Afterwards the
 * guardian stands in the root, so that it keeps no directory of its launcher busy.
 */
void control_open(struct guardian *g) {
  struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "ctl.sock"};
  g->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (g->listener < 0 || fchdir(g->dir) != 0) refuse(g, RC_NO_SLOT, "socket", errno);
  mode_t before = umask(0177);
  int bound = bind(g->listener, (struct sockaddr *)&name, sizeof name);
  int error = errno;
  umask(before);
  if (bound != 0) {
    close(g->listener);
    g->listener = -1; /* the name is somebody else's: refusing must not remove it */
    refuse(g, RC_NO_SLOT, "socket", error);
  }
  control_listen(g);
  if (chdir("/") != 0) refuse(g, RC_NO_SLOT, "socket", errno);
}

/* Said again by whoever works from now on: a nested guardian asks the kernel who listens, and whether that encloses it. */
void control_listen(struct guardian *g) {
  if (g->listener >= 0 && listen(g->listener, BACKLOG) != 0) refuse(g, RC_NO_SLOT, "socket", errno);
}

void control_close(struct guardian *g) {
  if (g->listener < 0) return;
  unlinkat(g->dir, "ctl.sock", 0);
  let_go(&g->listener);
}

static struct client *free_client(struct guardian *g) {
  struct client *found = NULL;
  int plain = 0;
  for (int at = 0; at < CLIENTS; at++) {
    struct client *c = &g->client[at];
    if (c->fd < 0 && found == NULL) found = c;
    plain += c->fd >= 0 && !c->nested;
  }
  return plain < PLAIN_CLIENTS ? found : NULL;
}

/* Same user, or root, which could signal the processes anyway. */
static bool peer_allowed(const struct guardian *g, int fd, pid_t *pid) {
  struct ucred peer;
  socklen_t length = sizeof peer;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return false;
  *pid = peer.pid;
  return peer.uid == g->uid || peer.uid == 0;
}

void control_accept(struct guardian *g) {
  pid_t pid = 0;
  int fd = accept4(g->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) return;
  step("accepted");
  struct client *c = peer_allowed(g, fd, &pid) ? free_client(g) : NULL;
  if (c == NULL) {
    close(fd);
    return;
  }
  *c = (struct client){.fd = fd, .pidfd = -1, .worker_fd = -1, .peer = {.pid = pid}};
}

/* A nested guardian that goes without having said that its receipt is durable has taken its evidence with it. */
void client_drop(struct guardian *g, struct client *c) {
  if (c->nested && !c->done) {
    c->lost_as = g->lost_nested + 1;
    in_order();
    step("losing");
    g->lost_nested = c->lost_as;
    step("lost");
  }
  if (c->nested) drain_nested_ended(g);
  let_go(&c->fd);
  let_go(&c->pidfd);
  let_go(&c->worker_fd);
  *c = (struct client){.fd = -1, .pidfd = -1, .worker_fd = -1};
}

/* Never waits for a reader: who does not take its lines is dropped, and asks again if it wants to know. */
bool client_send(struct guardian *g, struct client *c, const char *line, size_t length) {
  if (send(c->fd, line, length, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)length) return true;
  client_drop(g, c);
  return false;
}

void tell_followers(struct guardian *g, const char *line, size_t length) {
  for (int at = 0; at < CLIENTS; at++) {
    struct client *c = &g->client[at];
    if (c->fd >= 0 && c->follows) client_send(g, c, line, length);
  }
}

/* Takes the complete lines out of what has arrived; a line that exceeds the buffer is no request of ours. */
static void take_lines(struct guardian *g, struct client *c) {
  char *end;
  while (c->fd >= 0 && (end = memchr(c->line, '\n', c->used)) != NULL) {
    size_t length = (size_t)(end - c->line) + 1;
    char line[sizeof c->line];
    memcpy(line, c->line, length);
    line[length - 1] = '\0';
    memmove(c->line, c->line + length, c->used - length);
    c->used -= length;
    client_request(g, c, line);
  }
  if (c->fd >= 0 && c->used == sizeof c->line) client_drop(g, c);
}

/*
 * What a nested guardian says is heeded first and taken afterwards, so that it is not lost with whoever had read it; it
 * may be heeded twice, and what others ask may not.
 */
void client_ready(struct guardian *g, struct client *c) {
  char waste[sizeof c->line];
  const bool nested = c->nested;
  ssize_t got = recv(c->fd, c->line + c->used, sizeof c->line - c->used, MSG_DONTWAIT | (nested ? MSG_PEEK : 0));
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    client_drop(g, c);
    return;
  }
  if (nested) step("heard");
  c->used += (size_t)got;
  take_lines(g, c);
  if (nested && c->fd >= 0 && recv(c->fd, waste, (size_t)got, MSG_DONTWAIT) != got) client_drop(g, c);
}

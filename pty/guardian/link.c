#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guardian.h"

enum { LINGER_MS = 1000 };

/*
 * One JSON line to the launcher. A launcher that has gone or does not read is no reason to fail: from the gate on, the
 * receipts carry the facts, and before it the missing gate byte decides. SIGPIPE is blocked.
 */
void link_event(struct guardian *g, const struct text *line) {
  if (g->link < 0 || line->full) return;
  ssize_t ignored = send(g->link, line->at, line->used, MSG_DONTWAIT | MSG_NOSIGNAL);
  (void)ignored;
}

/*
 * Ends the conversation without losing the last word: a launcher whose write meets a closed socket would learn of the
 * broken pipe before it has read the line. So its side is read empty until it closes, for a bounded time.
 */
void link_linger(struct guardian *g) {
  char waste[4096];
  int64_t until = now_ms() + LINGER_MS;
  if (g->link < 0) return;
  shutdown(g->link, SHUT_WR);
  for (int64_t left = LINGER_MS; left > 0; left = until - now_ms()) {
    struct pollfd link = {.fd = g->link, .events = POLLIN};
    if (poll(&link, 1, (int)left) > 0 && recv(g->link, waste, sizeof waste, MSG_DONTWAIT) <= 0) break;
  }
  let_go(&g->link);
}

/* Ends a launch before the workload could run: the gated child, if there is one, leaves unrun and is reaped. */
_Noreturn void refuse(struct guardian *g, int code, const char *at_step, int error) {
  char buffer[256];
  struct text line = TEXT_OVER(buffer);
  if (g->child.pid > 0) {
    let_go(&g->gate); /* the child leaves by itself when the gate ends without the gate byte */
    waitpid(g->child.pid, NULL, __WALL);
  }
  cgroup_remove(g);
  control_close(g);
  enrol_done(g); /* nothing ran, so nothing remains: the enclosing guardian has lost no evidence */
  text_add(&line, "{\"event\":\"refused\",\"step\":\"");
  text_add(&line, at_step);
  text_add(&line, "\",\"errno\":");
  text_signed(&line, error);
  text_add(&line, ",\"exit\":");
  text_signed(&line, code);
  text_add(&line, "}\n");
  link_event(g, &line);
  link_linger(g);
  _exit(code);
}

#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guardian.h"

/*
 * One JSON line to the launcher. A launcher that has gone or does not read is no reason to fail: from the gate on, the
 * receipts carry the facts, and before it the missing gate byte decides. SIGPIPE is blocked.
 */
void link_event(struct guardian *g, const struct text *line) {
  if (g->link < 0 || line->full) return;
  ssize_t ignored = send(g->link, line->at, line->used, MSG_DONTWAIT | MSG_NOSIGNAL);
  (void)ignored;
}

/* Ends a launch before the workload could run: the gated child, if there is one, leaves unrun and is reaped. */
_Noreturn void refuse(struct guardian *g, int code, const char *at_step, int error) {
  char buffer[256];
  struct text line = TEXT_OVER(buffer);
  if (g->child.pid > 0) {
    close(g->gate); /* the child leaves by itself when the gate ends without the gate byte */
    waitpid(g->child.pid, NULL, __WALL);
  }
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
  _exit(code);
}

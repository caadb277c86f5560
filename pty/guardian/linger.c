#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include "guardian.h"

/*
 * The last part of a guardian with a terminal of its own. The receipts are complete and everybody has been told; what is
 * left is to say in the terminal that the output has ended, and to keep the terminal open until that has been read.
 */
bool linger_due(const struct guardian *g) {
#ifdef CUSTODY_WITHOUT_HOLD
  (void)g;
  return false;
#else
  return terminal_is_ours(g) && g->outcome.how != HOW_NOT_RELEASED;
#endif
}

/*
 * Nothing may hold our words up, alter them, get between them or wipe them out: not a Ctrl-S, pressed before or from now
 * on, nor upper case, nor the echo of what is still being typed, nor a Ctrl-C, which makes the terminal drop the output
 * that nobody has read yet. Other translations stay, for echoes that are still waiting behind a Ctrl-S. TCOON alone undoes
 * a TCOOFF, and no Ctrl-S: the kernel keeps the two apart.
 */
static void clear_the_way(const struct guardian *g) {
#ifndef CUSTODY_WITHOUT_FLOW_START
  struct termios settings;
  if (tcgetattr(g->terminal, &settings) != 0) return;
  settings.c_iflag &= ~(tcflag_t)IXON;
  settings.c_oflag &= ~(tcflag_t)OLCUC;
  settings.c_lflag &= ~(tcflag_t)(ECHO | ECHONL | ISIG);
  tcsetattr(g->terminal, TCSANOW, &settings);
  tcflow(g->terminal, TCOOFF);
  tcflow(g->terminal, TCOON);
#else
  (void)g;
#endif
}

void linger_end(struct guardian *g) {
  let_go(&g->terminal);
  let_go(&g->link);
  g->phase = LEAVING;
}

/* The form is known to readers as well: pty/launch/endMarker.ts. */
static void prepare_marker(struct guardian *g) {
  struct text t = TEXT_OVER(g->marker);
  text_add(&t, "\033_custody;end;");
  text_add(&t, g->marker_nonce);
  text_add(&t, "\033\\");
  g->marker_left = t.used;
}

/* As much as there is room for; a terminal that has been hung up has no reader to wait for. */
void linger_write(struct guardian *g) {
  const char *rest = g->marker + strlen(g->marker) - g->marker_left;
  ssize_t put = write(g->terminal, rest, g->marker_left);
  if (put > 0) g->marker_left -= (size_t)put;
#ifdef CUSTODY_WITHOUT_WHOLE_MARKER
  g->marker_left = 0;
#endif
  if (put < 0 && errno != EAGAIN && errno != EINTR) linger_end(g);
}

void linger_begin(struct guardian *g) {
  g->phase = LINGERING;
  g->drain.phase = DRAIN_IDLE; /* whatever was still due of it has nobody left to reach */
  g->linger_until = now_ms() + (int64_t)g->spec.linger_ms;
  prepare_marker(g);
  clear_the_way(g);
  linger_write(g);
  step("lingering");
}

/* The launcher has read everything, or is gone and reads nothing any more. */
void linger_heard(struct guardian *g) {
  char byte = 0;
  ssize_t got = recv(g->link, &byte, 1, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0 || byte == 'A') linger_end(g);
}

/* SIGTERM: whoever reads still gets the time that work would get. */
void linger_shorten(struct guardian *g) {
  int64_t until = now_ms() + (int64_t)g->spec.grace_ms;
  if (until < g->linger_until) g->linger_until = until;
}

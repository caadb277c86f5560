#include <errno.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "guardian.h"

enum { AT_SIGNALS, AT_LISTENER, AT_LINK, AT_EXEC, AT_TERMINAL, AT_CLIENTS, SOURCES = AT_CLIENTS + CLIENTS };

static bool awaits_launcher(const struct guardian *g) {
  return (g->phase == GATED && g->abandoned == NULL) || g->phase == LINGERING;
}

/*
 * poll skips negative descriptors, so a source that is not of interest is simply left out. A terminal without a master
 * is hung up for ever, so it is looked at only when that matters.
 */
static void gather(const struct guardian *g, struct pollfd *sources) {
  const short writable = g->marker_left > 0 ? POLLOUT : 0;
  sources[AT_SIGNALS] = (struct pollfd){.fd = g->signals, .events = POLLIN};
  sources[AT_LISTENER] = (struct pollfd){.fd = g->listener, .events = POLLIN};
  sources[AT_LINK] = (struct pollfd){.fd = awaits_launcher(g) ? g->link : -1, .events = POLLIN};
  sources[AT_EXEC] = (struct pollfd){.fd = g->phase == RELEASING ? g->exec_error : -1, .events = POLLIN};
  sources[AT_TERMINAL] = (struct pollfd){.fd = g->phase == LINGERING ? g->terminal : -1, .events = writable};
  for (int at = 0; at < CLIENTS; at++) {
    sources[AT_CLIENTS + at] = (struct pollfd){.fd = g->client[at].fd, .events = POLLIN};
  }
}

/* Milliseconds until something is due; -1, and therefore no timer and no wakeup, when nothing is. */
static int patience(const struct guardian *g) {
  int64_t due = INT64_MAX;
  if (g->more_ended) return 0;
  if (g->phase == GATED && g->abandoned == NULL) due = g->gate_until;
  if (g->phase == LINGERING) due = g->linger_until;
  if (drain_active(g) && g->drain.next_at < due) due = g->drain.next_at;
  if (due == INT64_MAX) return -1;
  int64_t left = due - now_ms();
  return left < 0 ? 0 : left > INT32_MAX ? INT32_MAX : (int)left;
}

/* The rest stays blocked, and a hang-up is only passed on: the guardian outlives its launcher and every terminal. */
static void read_signals(struct guardian *g) {
  struct signalfd_siginfo got;
  while (read(g->signals, &got, sizeof got) == sizeof got) {
    if (got.ssi_signo == SIGCONT) job_continue(g);
    if (got.ssi_signo == SIGCONT) witness_continue(g);
    if (got.ssi_signo == SIGHUP) job_hang_up(g);
    if (got.ssi_signo != SIGTERM && got.ssi_signo != SIGINT) continue;
    step("told");
    if (g->phase == LINGERING) linger_shorten(g);
    else drain_begin(g, g->spec.grace_ms, g->spec.budget_ms);
    g->passed = 0;
  }
}

/* Exactly one byte opens the gate. Its absence, in whatever form, means that nothing may run. */
static void read_gate_byte(struct guardian *g) {
  char byte = 0;
  ssize_t got = recv(g->link, &byte, 1, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got == 1 && byte == 'G') gate_open(g);
  else gate_abandon(g, got == 1 ? "wrongByte" : got == 0 ? "linkEnded" : "linkFailed");
}

static void read_link(struct guardian *g) {
  if (g->phase == LINGERING) linger_heard(g);
  else read_gate_byte(g);
}

/* POLLOUT means room for more of the marker; anything else, that the terminal has been hung up. */
static void terminal_ready(struct guardian *g, short events) {
  if (g->phase != LINGERING) return;
  if ((events & ~POLLOUT) != 0) linger_end(g);
  else linger_write(g);
}

static void dispatch(struct guardian *g, const struct pollfd *sources) {
  if (sources[AT_SIGNALS].revents != 0) read_signals(g);
  if (sources[AT_LINK].revents != 0) read_link(g);
  if (sources[AT_EXEC].revents != 0) exec_result(g);
  if (sources[AT_TERMINAL].revents != 0) terminal_ready(g, sources[AT_TERMINAL].revents);
  for (int at = 0; at < CLIENTS; at++) {
    if (sources[AT_CLIENTS + at].revents != 0) client_ready(g, &g->client[at]);
  }
  if (sources[AT_LISTENER].revents != 0) control_accept(g);
}

/*
 * Everybody is told only after the receipt is durable, and the enclosing guardian only if it is. A terminal comes last:
 * no proof waits for a reader.
 */
static void settle(struct guardian *g) {
  nested_settle(g);
  cgroup_remove(g);
  job_end(g);
  g->code = receipt_exit(g) ? 0 : RC_NOT_DURABLE;
  step("exitReceipt");
  if (!linger_due(g)) control_close(g);
  if (g->code == 0) enrol_done(g);
  say_settled(g, g->code);
  if (linger_due(g)) linger_begin(g);
}

static void turn(struct guardian *g) {
  struct pollfd sources[SOURCES];
  gather(g, sources);
  if (poll(sources, SOURCES, patience(g)) > 0) dispatch(g, sources);
  if (g->phase == GATED && now_ms() >= g->gate_until) gate_abandon(g, "timeout");
  if (g->phase == LINGERING && now_ms() >= g->linger_until) linger_end(g);
  if (drain_active(g) && now_ms() >= g->drain.next_at) drain_step(g);
}

/* Runs until no descendant remains, and until the output of a terminal has been read; returns the exit code. */
int guard(struct guardian *g) {
  while (!reap_turn(g)) {
    job_watch(g);
    turn(g);
  }
  settle(g);
  while (g->phase == LINGERING) turn(g);
  control_close(g);
  link_linger(g);
  witness_continue(g); /* it has to take our exit code, and nothing is left that its being stopped could tell anybody */
  return g->code;
}

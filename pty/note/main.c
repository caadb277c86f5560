#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../guardian/kernel.h"
#include "note.h"

#ifndef CUSTODY_BUILD
#define CUSTODY_BUILD "unknown"
#endif

static void put(int fd, struct text *line) {
  ssize_t ignored = write(fd, line->at, line->used);
  (void)ignored;
}

/* Test builds: the kernel kills the fork after so many nanoseconds, wherever it is by then. */
static void arm_killer(void) {
#ifdef CUSTODY_TEST_STEPS
  uint64_t after = 0;
  timer_t timer;
  const char *wanted = getenv("CUSTODY_TEST_KILL_NS");
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
  if (wanted == NULL || !parse_unsigned(wanted, 999999999, &after)) return;
  struct itimerspec when = {.it_value = {.tv_nsec = (long)after}};
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0) timer_settime(timer, 0, &when, NULL);
#endif
}

/*
 * The fork: it holds nothing of the caller's, for whom a descriptor may be a lock or the end of a pipe, and has a bound
 * of its own. With the report on all three streams no file of the spool can become one of them.
 */
static _Noreturn void work_apart(const struct request *r, int report) {
  char buffer[SAID_BYTES + 1];
  struct text said = text_over(buffer + 1, SAID_BYTES);
  sigset_t none;
  for (int fd = 0; fd <= 2; fd++) dup2(report, fd);
  if (report > 2) close(report);
  close_from(3);
  sigemptyset(&none); /* a caller that blocks or ignores SIGALRM would take our bounds away */
  sigprocmask(SIG_SETMASK, &none, NULL);
  signal(SIGALRM, SIG_DFL);
  alarm(WORK_SECONDS + (unsigned)(r->wait_ms / 1000));
  arm_killer();
  enum fate fate = work(r, &said);
  buffer[0] = (char)('0' + fate);
  ssize_t ignored = write(1, buffer, said.used + 1);
  (void)ignored;
  _exit(0);
}

/*
 * What the fork has to say, as far as it comes in time: -1 when it is still at it, 0 when it has ended without a word. One
 * that has ended is reaped, or whoever adopts orphans would have to do with each of our calls.
 */
static ssize_t hear(const struct request *r, pid_t child, int report, char *into, size_t room) {
  const int64_t until = r->began_ms + (int64_t)r->wait_ms;
  size_t heard = 0;
  for (int64_t left = until - now_ms(); left > 0; left = until - now_ms()) {
    struct pollfd end = {.fd = report, .events = POLLIN};
    int ready = poll(&end, 1, (int)left);
    if (ready < 0 && errno != EINTR) break;
    if (ready <= 0) continue;
    ssize_t got = read(report, into + heard, room - heard);
    if (got > 0) heard += (size_t)got;
    if (got > 0 || (got < 0 && errno == EINTR)) continue;
    waitpid(child, NULL, 0);
    return (ssize_t)heard;
  }
  return heard > 0 ? (ssize_t)heard : -1;
}

static int tell(const struct request *r, enum fate fate, const char *why) {
  char buffer[SAID_BYTES + 128];
  struct text line = TEXT_OVER(buffer);
  if (fate == TOLD) return EXIT_TOLD;
  text_add(&line, fate == PARTLY ? "custody-note: a part of this note is lost: " : "custody-note: this note is lost: ");
  text_add(&line, why);
  text_add(&line, "\n");
  put(2, &line);
  return r->strict ? EXIT_NOT_TOLD : EXIT_TOLD;
}

static int note(const struct request *r) {
  char heard[SAID_BYTES + 2] = {0};
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) return tell(r, NOT_TOLD, "no pipe can be made");
#ifdef CUSTODY_WITHOUT_FORK
  pid_t child = 0;
#else
  pid_t child = fork();
#endif
  if (child < 0) return tell(r, NOT_TOLD, "no process can be made");
  if (child == 0) work_apart(r, report[1]);
  close(report[1]);
  ssize_t length = hear(r, child, report[0], heard, sizeof heard - 1);
  if (length > 0 && heard[0] >= '0' && heard[0] <= '2') return tell(r, (enum fate)(heard[0] - '0'), heard + 1);
  if (length == 0) return tell(r, NOT_TOLD, "the process that wrote it was ended");
  return tell(r, NOT_TOLD, "it is not written in time, and may still come");
}

static int version(void) {
  static const char line[] = "{\"name\":\"custody-note\",\"note\":1,\"build\":\"" CUSTODY_BUILD "\"}\n";
  return write(1, line, sizeof line - 1) == sizeof line - 1 ? 0 : 1;
}

int main(int argc, char **argv) {
  struct request r;
  struct timespec wall;
  int64_t began_ms = now_ms();
  clock_gettime(CLOCK_REALTIME, &wall);
  signal(SIGPIPE, SIG_IGN); /* nobody who reads our messages must not be the end of the caller */
  enum asked asked = arguments_read(argc, argv, &r);
  r.began_ms = began_ms;
  r.wall_ms = (int64_t)wall.tv_sec * 1000 + wall.tv_nsec / 1000000;
  if (asked == ASKED_HELP) usage_print(1);
  if (asked == ASKED_VERSION) return version();
  if (asked != ASKED_NOTE) return asked == ASKED_HELP ? 0 : EXIT_USAGE;
  return note(&r);
}

/*
 * Keeps one child at a time and brings it into the condition that a test wants to observe. One command per line on
 * standard input, one line of JSON per answer, given only when the condition has been reached. The child dies with us.
 *
 *   spawn | spawnat PID | sametick PID   a child; under a chosen pid; the second of two with one pid and one start tick
 *   stop | cont                          job control, answered once the kernel reports it
 *   kill                                 SIGKILL, answered while the child is a zombie
 *   reap                                 takes the zombie away
 *   uid N | name HEX | dumpable N        the child changes itself
 *   leaderexit                           the child's main thread exits, another thread goes on
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct child {
  pid_t pid;
  int pidfd;
  int commands;
  int answers;
  unsigned long long start;
  unsigned long long inode;
};

static void die(const char *what) {
  fprintf(stderr, "puppeteer: %s: %s\n", what, strerror(errno));
  exit(1);
}

/* Field 22, counted from the last parenthesis; the state goes to *state and the thread count to *threads. */
static unsigned long long start_of(pid_t pid, char *state, int *threads) {
  char path[64], line[1024];
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  int fd = open(path, O_RDONLY);
  if (fd < 0) die("open stat");
  ssize_t length = read(fd, line, sizeof line - 1);
  close(fd);
  if (length <= 0) die("read stat");
  line[length] = 0;
  unsigned long long start;
  char *rest = strrchr(line, ')');
  if (sscanf(rest + 2, "%c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %d %*d %llu", state, threads,
             &start) != 3)
    die("parse stat");
  return start;
}

static int child_answers;

static void *carry_on(void *unused) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  while (unused == NULL) pause();
  return NULL;
}

static void obey(const char *line) {
  unsigned long number;
  if (sscanf(line, "uid %lu", &number) == 1) {
    /* A group that differs would keep the same user from looking just as well. */
    if (setgroups(0, NULL) != 0 || setresgid((gid_t)number, (gid_t)number, (gid_t)number) != 0) die("setresgid");
    if (setresuid((uid_t)number, (uid_t)number, (uid_t)number) != 0) die("setresuid");
  } else if (sscanf(line, "dumpable %lu", &number) == 1) {
    if (prctl(PR_SET_DUMPABLE, number) != 0) die("dumpable");
  } else if (strncmp(line, "name ", 5) == 0) {
    char name[16] = {0};
    for (int at = 0; at < 15 && sscanf(line + 5 + 2 * at, "%2hhx", (unsigned char *)&name[at]) == 1; at++) continue;
    if (prctl(PR_SET_NAME, name) != 0) die("name");
  } else if (strncmp(line, "leaderexit", 10) == 0) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, carry_on, NULL) != 0) die("thread");
    if (write(child_answers, "k", 1) != 1) die("answer");
    syscall(SYS_exit, 0);
  }
  if (write(child_answers, "k", 1) != 1) die("answer");
}

static void live(int commands, int answers) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  child_answers = answers;
  FILE *in = fdopen(commands, "r");
  char line[256];
  if (write(answers, "k", 1) != 1) die("answer");
  while (fgets(line, sizeof line, in)) obey(line);
  _exit(0);
}

static void hear(struct child *child) {
  char answer;
  if (read(child->answers, &answer, 1) != 1) die("child is silent");
}

static struct child spawn(pid_t wanted) {
  struct child child = {0};
  int commands[2], answers[2];
  if (pipe2(commands, O_CLOEXEC) != 0 || pipe2(answers, O_CLOEXEC) != 0) die("pipe");
  struct clone_args args = {.flags = CLONE_PIDFD, .exit_signal = SIGCHLD, .pidfd = (uintptr_t)&child.pidfd};
  if (wanted != 0) args.set_tid = (uintptr_t)&wanted, args.set_tid_size = 1;
  child.pid = (pid_t)syscall(SYS_clone3, &args, sizeof args);
  if (child.pid < 0) die("clone3");
  if (child.pid == 0) {
    close(commands[1]);
    close(answers[0]);
    live(commands[0], answers[1]);
  }
  close(commands[0]);
  close(answers[1]);
  child.commands = commands[1];
  child.answers = answers[0];
  struct stat node;
  char state;
  int threads;
  if (fstat(child.pidfd, &node) != 0) die("fstat pidfd");
  child.inode = node.st_ino;
  child.start = start_of(child.pid, &state, &threads);
  return child;
}

static void await(struct child *child, int how) {
  siginfo_t info;
  if (waitid(P_PID, (id_t)child->pid, &info, how) != 0) die("waitid");
}

static void end(struct child *child) {
  kill(child->pid, SIGKILL);
  await(child, WEXITED);
  close(child->commands);
  close(child->answers);
}

static void tell(const char *word, const struct child *child) {
  printf("{\"%s\":true,\"pid\":%d,\"start\":\"%llu\",\"pidfs\":\"%llu\",\"fd\":%d}\n", word, child->pid, child->start,
         child->inode, child->pidfd);
  fflush(stdout);
}

/* Two processes with one pid and one start tick. The pidfd of the first stays open, as a guardian's would. */
static struct child same_tick(pid_t wanted) {
  for (int attempt = 0; attempt < 2000; attempt++) {
    struct child first = spawn(wanted);
    end(&first);
    struct child second = spawn(wanted);
    if (first.start == second.start) {
      tell("first", &first);
      hear(&second);
      return second;
    }
    end(&second);
    close(first.pidfd);
    close(second.pidfd);
  }
  die("no two in one tick");
  return (struct child){0};
}

static void leader_exit(struct child *child) {
  char state;
  int threads;
  do start_of(child->pid, &state, &threads);
  while (state != 'Z');
}

int main(void) {
  struct child child = {0};
  char line[256];
  pid_t wanted;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  while (fgets(line, sizeof line, stdin)) {
    const char *word = "done";
    if (sscanf(line, "spawnat %d", &wanted) == 1) child = spawn(wanted), hear(&child), word = "spawned";
    else if (sscanf(line, "sametick %d", &wanted) == 1) child = same_tick(wanted), word = "second";
    else if (strncmp(line, "spawn", 5) == 0) child = spawn(0), hear(&child), word = "spawned";
    else if (strncmp(line, "stop", 4) == 0) kill(child.pid, SIGSTOP), await(&child, WSTOPPED);
    else if (strncmp(line, "cont", 4) == 0) kill(child.pid, SIGCONT), await(&child, WCONTINUED);
    else if (strncmp(line, "kill", 4) == 0) kill(child.pid, SIGKILL), await(&child, WEXITED | WNOWAIT);
    else if (strncmp(line, "reap", 4) == 0) await(&child, WEXITED);
    else {
      if (write(child.commands, line, strlen(line)) < 0) die("command");
      hear(&child);
      if (strncmp(line, "leaderexit", 10) == 0) leader_exit(&child);
    }
    tell(word, &child);
  }
  return 0;
}

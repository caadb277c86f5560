/* What both programs here need: the clock, a start, and the request to a guardian with its reserved receipts. */
#ifndef BENCH_FRAME_H
#define BENCH_FRAME_H

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static long long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (long long)now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void fail(const char *what) {
  perror(what);
  exit(1);
}

/* Starts a program with `out` as its standard output and, unless negative, `link` as descriptor 3. */
static pid_t start(char **argv, int out, int link) {
  pid_t pid = fork();
  if (pid != 0) return pid;
  dup2(out, 1);
  if (link >= 0) dup2(link, 3);
  execv(argv[0], argv);
  _exit(127);
}

struct frame {
  char bytes[8192];
  size_t used;
};

__attribute__((format(printf, 2, 3))) static void add(struct frame *f, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  f->used += (size_t)vsnprintf(f->bytes + f->used, sizeof f->bytes - f->used, format, arguments) + 1;
  va_end(arguments);
}

static void reserve(struct frame *f, const char *directory, const char *file, const char *key, size_t bytes) {
  char path[4096], zeros[16384] = {0};
  struct stat node;
  snprintf(path, sizeof path, "%s/%s", directory, file);
  int fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
  if (fd < 0 || write(fd, zeros, bytes) != (ssize_t)bytes || fsync(fd) != 0 || fstat(fd, &node) != 0) fail(path);
  close(fd);
  add(f, "%s=%llu:%llu", key, (unsigned long long)node.st_dev, (unsigned long long)node.st_ino);
}

static inline void make_frame(struct frame *f, const char *directory) {
  if (mkdir(directory, 0700) != 0) fail(directory);
  f->used = 4;
  add(f, "protocol=1");
  add(f, "scope=SBENCH");
  add(f, "installation=IBENCH");
  add(f, "dir=%s", directory);
  add(f, "cwd=/");
  add(f, "umask=22");
  add(f, "handshakeMs=5000");
  add(f, "nonceStart=00000000000000000000000000000001");
  add(f, "nonceStatus=00000000000000000000000000000002");
  add(f, "nonceExit=00000000000000000000000000000003");
  reserve(f, directory, "start.reserved", "slotStart", 4096);
  reserve(f, directory, "status.reserved", "slotStatus", 4096);
  reserve(f, directory, "exit.reserved", "slotExit", 4096);
  reserve(f, directory, "adopted.log", "slotAdopted", 16384);
  add(f, "env=PATH=/usr/bin:/bin");
}

static inline void seal_frame(struct frame *f) {
  unsigned length = (unsigned)f->used - 4;
  for (int at = 0; at < 4; at++) f->bytes[at] = (char)(length >> (8 * at));
}

#endif

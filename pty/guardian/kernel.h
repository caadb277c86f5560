/*
 * System calls that C libraries learned late (glibc 2.36) or not at all; the numbers are the same on every machine. The
 * kernel's own headers are not needed: a machine that can compile C need not have them.
 */
#ifndef CUSTODY_KERNEL_H
#define CUSTODY_KERNEL_H

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#endif

enum { CAP_SYS_PTRACE = 19, CAPABILITY_VERSION_3 = 0x20080522 };

/* Linux 5.3. The descriptor is close-on-exec. */
static inline int open_pidfd(pid_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

/* Linux 5.1. A signal through a pidfd reaches that process or none. */
static inline int signal_pidfd(int pidfd, int number) {
  return (int)syscall(SYS_pidfd_send_signal, pidfd, number, (void *)0, 0);
}

/* Linux 5.9. */
static inline int close_between(unsigned first, unsigned last) {
  return (int)syscall(SYS_close_range, first, last, 0);
}
static inline int close_from(unsigned first) { return close_between(first, ~0u); }

/* Linux 3.17. A file that nobody else can name. */
static inline int memory_file(const char *name) { return (int)syscall(SYS_memfd_create, name, 1u /* MFD_CLOEXEC */); }

/*
 * fork with one table of descriptors for both, which lives as long as one of them. Linux 5.2 for the pidfd; the old call,
 * because containers refuse the new one. The first two arguments change places on s390.
 */
static inline pid_t fork_beside(int *pidfd) {
  unsigned long flags = 0x400 /* CLONE_FILES */ | 0x1000 /* CLONE_PIDFD */ | SIGCHLD;
#ifdef __s390x__
  return (pid_t)syscall(SYS_clone, 0ul, flags, pidfd, 0ul, 0ul);
#else
  return (pid_t)syscall(SYS_clone, flags, 0ul, pidfd, 0ul, 0ul);
#endif
}

/* Linux 3.15; the file system must know the flag too. */
static inline int rename_new(int dir, const char *from, const char *to) {
  return (int)syscall(SYS_renameat2, dir, from, dir, to, RENAME_NOREPLACE);
}

/* The first 32 of them; none when the kernel does not say. */
static inline unsigned effective_capabilities(void) {
  struct {
    unsigned version;
    int pid;
  } head = {CAPABILITY_VERSION_3, 0};
  struct {
    unsigned effective, permitted, inheritable;
  } sets[2] = {{0, 0, 0}, {0, 0, 0}};
  return syscall(SYS_capget, &head, sets) == 0 ? sets[0].effective : 0;
}

#endif

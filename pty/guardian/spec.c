#include <errno.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "guardian.h"

/* The frame must arrive within the default handshake, twice: a launcher that hangs must not leave a guardian behind. */
enum { FRAME_WAIT_MS = 10000 };

static void receive(struct guardian *g, char *to, size_t length, int64_t until) {
  while (length > 0) {
    struct pollfd link = {.fd = g->link, .events = POLLIN};
    int64_t left = until - now_ms();
    int ready = poll(&link, 1, left > 0 ? (int)left : 0);
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) refuse(g, RC_BAD_SPEC, "frame", errno);
    if (ready == 0) refuse(g, RC_BAD_SPEC, "frame", ETIMEDOUT);
    ssize_t got = recv(g->link, to, length, MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) refuse(g, RC_BAD_SPEC, "frame", got < 0 ? errno : EPIPE);
    to += got;
    length -= (size_t)got;
  }
}

/*
 * Everything about the work arrives over the link, nothing in argv: /proc/PID/cmdline is readable by every user. The
 * frame is a mapping of its own so that the environment in it can be given back to the kernel once it has been used.
 */
void spec_read(struct guardian *g) {
  unsigned char head[4];
  const char *wrong = "frame";
  int64_t until = now_ms() + FRAME_WAIT_MS;
  receive(g, (char *)head, sizeof head, until);
  size_t length = (size_t)head[0] | (size_t)head[1] << 8 | (size_t)head[2] << 16 | (size_t)head[3] << 24;
  if (length == 0 || length > FRAME_MAX) refuse(g, RC_BAD_SPEC, "frame", EMSGSIZE);
  char *frame = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (frame == MAP_FAILED) refuse(g, RC_BAD_SPEC, "frame", errno);
  g->spec.frame = frame;
  g->spec.frame_bytes = length;
  receive(g, frame, length, until);
  if (frame[length - 1] != '\0') refuse(g, RC_BAD_SPEC, "frame", EBADMSG);
  if (!spec_parse(g, &wrong)) refuse(g, RC_BAD_SPEC, wrong, EINVAL);
}

/* From here on no value of the workload's environment or command line remains in the guardian's memory. */
void spec_forget(struct guardian *g) {
  if (g->spec.frame == NULL) return;
  munmap(g->spec.frame, g->spec.frame_bytes);
  munmap(g->spec.argv, (g->spec.argc + g->spec.envc + 2) * sizeof(char *));
  g->spec.frame = NULL;
  g->spec.argv = g->spec.env = NULL;
  g->spec.dir = g->spec.cwd = g->spec.up = NULL;
}

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "guardian.h"
#include "kernel.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

enum { PEER_FD = 3, RC_NO_PEER = 3, RC_NO_SOCKET = 4 };

/*
 * Of whoever connected, and of nobody who took over its pid since: from Linux 6.5 on the kernel hands out the very
 * process. Before, the pid is looked up while its descriptor is held, which a reuse in between would escape; the start
 * time that is printed then names another process than the one that the caller has on record.
 */
static int peer_pidfd(pid_t pid) {
  int pidfd = -1;
  socklen_t length = sizeof pidfd;
  if (getsockopt(PEER_FD, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &length) == 0) return pidfd;
  return errno == ENOPROTOOPT ? open_pidfd(pid) : -1;
}

/*
 * `peer`: who holds the other end of the socket on descriptor 3 (unix(7), SO_PEERCRED), as one line of JSON. For a
 * daemon that cannot ask the kernel itself. Exit: 0 printed, 3 that process is gone, 4 descriptor 3 is no such socket.
 */
int peer_command(void) {
  struct ucred peer;
  struct identity who;
  char buffer[192];
  struct text line = TEXT_OVER(buffer);
  socklen_t length = sizeof peer;
  if (getsockopt(PEER_FD, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0 || peer.pid <= 0) return RC_NO_SOCKET;
  int pidfd = peer_pidfd(peer.pid);
  if (pidfd < 0 || !identify(peer.pid, pidfd, &who) || signal_pidfd(pidfd, 0) != 0) return RC_NO_PEER;
  text_add(&line, "{\"uid\":");
  text_unsigned(&line, peer.uid);
  text_add(&line, ",\"process\":");
  identity_text(&line, &who);
  text_add(&line, "}\n");
  return write(1, line.at, line.used) == (ssize_t)line.used ? 0 : 1;
}

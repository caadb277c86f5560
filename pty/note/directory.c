#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "note.h"

/* The same order as everywhere (actors/runtime/places.ts); an empty variable counts as none. */
static bool state_path(const struct request *r, struct text *path) {
  const char *own = getenv("CUSTODY_HOME"), *xdg = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
  if (r->state_dir != NULL) text_add(path, r->state_dir);
  else if (own != NULL && *own != '\0') text_add(path, own);
  else if (xdg != NULL && *xdg != '\0') {
    text_add(path, xdg);
    text_add(path, "/custody");
  } else if (home != NULL && *home != '\0') {
    text_add(path, home);
    text_add(path, "/.local/state/custody");
  } else return false;
  return !path->full;
}

/* All of it, from the top; what is there stays as it is. */
static void make_path(char *path) {
  for (char *at = path + 1; *at != '\0'; at++) {
    if (*at != '/') continue;
    *at = '\0';
    mkdir(path, 0700);
    *at = '/';
  }
  mkdir(path, 0700);
}

/* Nobody else's, and nobody else may write there; `forbidden` are the permissions that others must not have. */
static int ours_only(int fd, mode_t forbidden, struct text *said) {
  struct stat node;
  const char *problem = NULL;
  if (fstat(fd, &node) != 0) problem = "the spool directory cannot be looked at";
#ifndef CUSTODY_WITHOUT_OWNER_CHECK
  else if (node.st_uid != geteuid()) problem = "the state directory, or a spool in it, belongs to another user";
#endif
  else if ((node.st_mode & forbidden) != 0) problem = "the state directory, or a spool in it, is open to others: chmod 700";
  if (problem == NULL) return fd;
  say(said, problem, 0);
  close(fd);
  return -1;
}

/* O_NOFOLLOW: a link could lead the notes of one installation into another, or anywhere. */
static int enter(int parent, const char *name, struct text *said) {
  int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
#ifndef CUSTODY_WITHOUT_NOFOLLOW
  flags |= O_NOFOLLOW;
#endif
  if (parent < 0) return -1;
  int fd = openat(parent, name, flags);
  if (fd < 0 && errno == ENOENT) {
    if (mkdirat(parent, name, 0700) == 0 || errno == EEXIST) fd = openat(parent, name, flags);
  }
  if (fd < 0) say(said, "the spool directory cannot be made or opened", errno);
  close(parent);
  return fd < 0 ? -1 : ours_only(fd, 077, said);
}

int spool_directory(const struct request *r, struct text *said) {
  char buffer[4096];
  struct text path = TEXT_OVER(buffer);
  if (!state_path(r, &path)) {
    say(said, "no state directory: set HOME or CUSTODY_HOME", 0);
    return -1;
  }
  int state = open(path.at, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (state < 0 && errno == ENOENT) {
    make_path(path.at);
    state = open(path.at, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  }
  if (state < 0) {
    say(said, "the state directory cannot be made or opened", errno);
    return -1;
  }
  return enter(enter(ours_only(state, 022, said), "spool", said), r->producer, said);
}

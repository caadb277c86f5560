#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "note.h"

enum { PATH_ROOM = PATH_MAX + 1 };

/* The one true name of what a descriptor is open on; false when it has none below our root (proc_pid_fd(5)). */
static bool name_of(int fd, char name[PATH_ROOM]) {
  char link[48];
  struct text at = TEXT_OVER(link);
  text_add(&at, "/proc/self/fd/");
  text_unsigned(&at, (uint64_t)fd);
  ssize_t length = readlink(at.at, name, PATH_ROOM - 1);
  if (length <= 0 || length >= PATH_ROOM - 1) return false;
  name[length] = '\0';
  return name[0] == '/';
}

/* Opens without permission to read, and waits for nobody: the target may be anything. */
static bool resolved(int dir, const char *path, char name[PATH_ROOM]) {
  int fd = openat(dir, path, O_PATH | O_CLOEXEC);
  if (fd < 0) return false;
  bool named = name_of(fd, name);
  close(fd);
  return named;
}

/* What `gitdir: PATH` in a `.git` file leads to (gitrepository-layout(5)); relative to the directory that it lies in. */
static bool pointed_to(int dir, char name[PATH_ROOM]) {
  char text[PATH_MAX + 16];
  struct stat node;
  int fd = openat(dir, ".git", O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t length = fstat(fd, &node) == 0 && S_ISREG(node.st_mode) ? read(fd, text, sizeof text - 1) : -1;
  close(fd);
  if (length <= 0 || memchr(text, '\0', (size_t)length) != NULL) return false;
  while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == '\r')) length--;
  text[length] = '\0';
  return strncmp(text, "gitdir: ", 8) == 0 && resolved(dir, text + 8, name);
}

static void find_git(int dir, char name[PATH_ROOM]) {
  struct stat node;
  name[0] = '\0';
  if (fstatat(dir, ".git", &node, 0) != 0) return;
  bool found = S_ISDIR(node.st_mode) ? resolved(dir, ".git", name) : pointed_to(dir, name);
  if (!found) name[0] = '\0';
}

static void decimal(struct text *t, const char *key, uint64_t value) {
  text_add(t, key);
  text_unsigned(t, value);
  text_add(t, "\"");
}

static bool describe(struct text *t, int dir, struct text *said) {
  char path[PATH_ROOM], git[PATH_ROOM];
  struct statx found;
  if (statx(dir, "", AT_EMPTY_PATH, STATX_INO | STATX_NLINK | STATX_BTIME, &found) != 0) {
    say(said, "the directory cannot be looked at", errno);
    return false;
  }
  if (found.stx_nlink == 0 || !name_of(dir, path)) {
    say(said, "the directory has no path: it was removed, or lies outside of what is mounted here", 0);
    return false;
  }
  find_git(dir, git);
  text_add(t, ",\"place\":{\"path\":");
  if (!json_string(t, path, PATH_MAX)) {
    say(said, "the path of the directory is not UTF-8", 0);
    return false;
  }
  decimal(t, ",\"dev\":\"", makedev(found.stx_dev_major, found.stx_dev_minor));
  decimal(t, ",\"ino\":\"", found.stx_ino);
  if ((found.stx_mask & STATX_BTIME) == 0 || found.stx_btime.tv_sec < 0) text_add(t, ",\"born\":null");
  else decimal(t, ",\"born\":\"", (uint64_t)found.stx_btime.tv_sec * 1000000000u + found.stx_btime.tv_nsec);
  text_add(t, ",\"gitdir\":");
  if (!json_string(t, git, PATH_MAX)) {
    say(said, "the path of the git directory is not UTF-8", 0);
    return false;
  }
  text_add(t, "}");
  return true;
}

/* On failure the text is as it was. */
bool place_text(struct text *t, const char *directory, struct text *said) {
  const struct text before = *t;
  int dir = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (dir < 0) {
    say(said, "the directory cannot be opened", errno);
    return false;
  }
  bool known = describe(t, dir, said);
  if (known && t->full) say(said, "the path is too long for a note", 0);
  known = known && !t->full;
  close(dir);
  if (known) return true;
  *t = before;
  t->at[t->used] = '\0';
  return false;
}

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "guardian.h"

#ifndef CGROUP2_SUPER_MAGIC
#define CGROUP2_SUPER_MAGIC 0x63677270
#endif

/* Of cgroups that the workload has made inside its own. */
enum { DEPTH_MAX = 16 };

/*
 * A cgroup v2 for the workload, where the launcher names a directory that is ours to divide: the kernel freezes and kills
 * what is in it at once. That is quicker than sweeps and proves nothing. Whoever was moved out of it is found by the
 * walk, whoever was moved into it is not ours to kill, and nobody has ended before ECHILD.
 */

static bool put(const struct guardian *g, const char *file, const char *value, size_t length) {
  int fd = openat(g->cgroup, file, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  bool done = write(fd, value, length) == (ssize_t)length;
  close(fd);
  return done;
}

static bool says(const struct guardian *g, const char *file, const char *line) {
  char buffer[512];
  int fd = openat(g->cgroup, file, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t got = read(fd, buffer, sizeof buffer - 1);
  close(fd);
  buffer[got > 0 ? got : 0] = '\0';
  return strstr(buffer, line) != NULL;
}

/* Anybody can give us any path; only in this file system do these names mean what they say. */
static int open_delegated(const char *path) {
  struct statfs kind;
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return -1;
  if (fstatfs(fd, &kind) == 0 && (unsigned long)kind.f_type == CGROUP2_SUPER_MAGIC) return fd;
  close(fd);
  return -1;
}

static bool enter(struct guardian *g) {
  char number[24];
  struct text pid = TEXT_OVER(number);
  text_unsigned(&pid, (uint64_t)g->child.pid);
  if (mkdirat(g->cgroup_parent, g->scope, 0755) != 0) return false;
  step("grouped");
  g->cgroup = openat(g->cgroup_parent, g->scope, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  return g->cgroup >= 0 && put(g, "cgroup.procs", pid.at, pid.used);
}

/*
 * For the child that waits behind its gate, and so for all that will descend from it. Where that cannot be done the drain
 * goes by sweeps: a cgroup is a convenience, and no reason to refuse work.
 */
void cgroup_enter(struct guardian *g) {
  if (g->spec.cgroup == NULL) return;
  g->cgroup_parent = open_delegated(g->spec.cgroup);
  if (g->cgroup_parent < 0 || enter(g)) return;
  if (g->cgroup >= 0) cgroup_remove(g);
  else let_go(&g->cgroup_parent); /* what has this name there is somebody else's */
}

/* Guardians inside it must neither be stopped nor killed; then everybody is dealt with one by one. */
static bool holds_guardians(const struct guardian *g) {
#ifndef CUSTODY_WITHOUT_SPARING
  for (int at = 0; at < CLIENTS; at++) {
    if (g->client[at].nested) return true;
  }
#endif
  return g->cgroup < 0;
}

void cgroup_freeze(struct guardian *g) {
  if (holds_guardians(g)) return;
  g->drain.cgroup_stops = true; /* first: a freeze that nobody knows of would never end */
  in_order();
  if (!put(g, "cgroup.freeze", "1", 1)) g->drain.cgroup_stops = false;
  step("stopping");
  g->drain.cgroup_until = now_ms() + WALK_MS;
}

void cgroup_thaw(struct guardian *g) {
  if (g->drain.cgroup_stops) put(g, "cgroup.freeze", "0", 1);
  g->drain.cgroup_stops = false;
  members_free(&g->drain.cgroup);
}

/* Numbers one a line. They have no start time yet: the walk has to find the same processes. */
static bool read_numbers(int fd, struct members *list) {
  char buffer[4096];
  struct member one = {.pid = 0};
  ssize_t got;
  while ((got = read(fd, buffer, sizeof buffer)) > 0) {
    for (ssize_t at = 0; at < got; at++) {
      if (buffer[at] >= '0' && buffer[at] <= '9') one.pid = one.pid * 10 + (buffer[at] - '0');
      else if (!members_note(list, &one)) return false;
      else one.pid = 0;
    }
  }
  return got == 0;
}

/* By pid. False: not known, or somebody has divided the cgroup further. */
static bool read_group(const struct guardian *g, struct members *list) {
  members_free(list);
  int fd = says(g, "cgroup.stat", "nr_descendants 0\n") ? openat(g->cgroup, "cgroup.procs", O_RDONLY | O_CLOEXEC) : -1;
  bool done = fd >= 0 && read_numbers(fd, list);
  if (fd >= 0) close(fd);
  members_sort(list);
  return done;
}

/*
 * Reads who is in the frozen cgroup; nobody there can run, leave by itself or be born. False: the kernel has not stopped
 * everybody yet. When that takes too long, or somebody has divided the cgroup further, it is thawed and not used.
 */
bool cgroup_settled(struct guardian *g) {
  bool is_frozen = says(g, "cgroup.events", "frozen 1\n");
  if (!is_frozen && now_ms() < g->drain.cgroup_until) return false;
  if (!is_frozen || !read_group(g, &g->drain.cgroup)) cgroup_thaw(g);
  return true;
}

bool cgroup_stops(const struct guardian *g, pid_t pid) { return members_search(&g->drain.cgroup, pid, 0) != NULL; }

/* Whoever is frozen can only have been moved by somebody else. */
static bool is_as_it_was(const struct guardian *g) {
  const struct members *before = &g->drain.cgroup;
  struct members now = {0};
  bool same = read_group(g, &now) && now.count == before->count;
  for (size_t at = 0; same && at < now.count; at++) same = now.list[at].pid == before->list[at].pid;
  members_free(&now);
  return same;
}

/*
 * True: whoever is in it has been sent SIGKILL. Asked only when all of them were found in the tree, too; where somebody has
 * been moved since, everybody is dealt with one by one.
 */
bool cgroup_kill(struct guardian *g) { return g->drain.cgroup_stops && is_as_it_was(g) && put(g, "cgroup.kill", "1", 1); }

static void remove_below(int dir, int depth) {
  DIR *stream = depth < DEPTH_MAX ? fdopendir(dup(dir)) : NULL;
  if (stream == NULL) return;
  for (struct dirent *entry; (entry = readdir(stream)) != NULL;) {
    if (entry->d_type != DT_DIR || entry->d_name[0] == '.') continue;
    int below = openat(dir, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (below < 0) continue;
    remove_below(below, depth + 1);
    close(below);
    unlinkat(dir, entry->d_name, AT_REMOVEDIR);
  }
  closedir(stream);
}

/*
 * Once nobody of the tree is left who could be in it, with what the workload has made inside. Whoever else was moved into
 * it keeps it there, and must run on.
 */
void cgroup_remove(struct guardian *g) {
  if (g->cgroup_parent < 0) return;
  cgroup_thaw(g);
  if (g->cgroup >= 0) remove_below(g->cgroup, 0);
  let_go(&g->cgroup);
  unlinkat(g->cgroup_parent, g->scope, AT_REMOVEDIR);
  let_go(&g->cgroup_parent);
}

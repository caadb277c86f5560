#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "guardian.h"

/* A tree that grows faster than it is walked must not take all memory; the next scan sees the rest. */
enum { MEMBERS_MAX = 1 << 17 };

#ifdef CUSTODY_WITHOUT_CHILDREN_FILE
#define CHILDREN "/no-such-file"
#else
#define CHILDREN "/children"
#endif

struct directory_entry {
  uint64_t inode;
  int64_t offset;
  uint16_t length;
  uint8_t type;
  char name[];
};

bool members_note(struct members *m, const struct member *one) {
  if (m->count == m->room) {
    size_t room = m->room == 0 ? 64 : m->room * 2;
    struct member *list = room > MEMBERS_MAX ? NULL : realloc(m->list, room * sizeof *list);
    if (list == NULL) {
      m->incomplete = true;
      return false;
    }
    m->list = list;
    m->room = room;
  }
  m->list[m->count++] = *one;
  return true;
}

const struct member *members_find(const struct members *m, pid_t pid, uint64_t start) {
  for (size_t at = 0; at < m->count; at++) {
    if (m->list[at].pid == pid && m->list[at].start == start) return &m->list[at];
  }
  return NULL;
}

static int by_pid(const void *left, const void *right) {
  const struct member *a = left, *b = right;
  return (a->pid > b->pid) - (a->pid < b->pid);
}

void members_sort(struct members *m) {
  if (m->count > 1) qsort(m->list, m->count, sizeof *m->list, by_pid);
}

/* The same in a list that is sorted, as members_read leaves it. */
const struct member *members_search(const struct members *m, pid_t pid, uint64_t start) {
  const struct member key = {.pid = pid};
  const struct member *found = m->count == 0 ? NULL : bsearch(&key, m->list, m->count, sizeof key, by_pid);
  return found != NULL && found->start == start ? found : NULL;
}

void members_free(struct members *m) {
  free(m->list);
  *m = (struct members){0};
}

static bool task_path(struct text *path, pid_t pid, pid_t thread, const char *leaf) {
  text_add(path, "/proc/");
  text_unsigned(path, (uint64_t)pid);
  text_add(path, "/task/");
  if (thread != 0) text_unsigned(path, (uint64_t)thread);
  text_add(path, leaf);
  return !path->full;
}

/* A thread that waits uninterruptibly (a vfork parent) cannot run user code again before it stops, or dies, if it has to. */
static bool stop_is_pending(pid_t pid, pid_t thread) {
  char name[64], buffer[4096];
  size_t length = 0;
  struct text path = TEXT_OVER(name);
  if (!task_path(&path, pid, thread, "/status") || !proc_read(&path, buffer, sizeof buffer, &length)) return false;
  uint64_t pending = 0;
  for (const char *at = buffer; (at = strstr(at, "Pnd:\t")) != NULL;) {
    at += 5;
    pending |= strtoull(at, NULL, 16);
  }
  return (pending & (1ull << (SIGSTOP - 1) | 1ull << (SIGKILL - 1))) != 0;
}

static bool may_run(pid_t pid, pid_t thread, char state) {
  if (strchr("TtZXx", state) != NULL) return false;
  return state != 'D' || !stop_is_pending(pid, thread);
}

/* The numeric names of /proc/PID/task, or of /proc itself for pid 0, handed to `each` in turn until one says false. */
static bool each_number(pid_t pid, bool (*each)(void *, pid_t), void *context) {
  _Alignas(struct directory_entry) char buffer[4096];
  char name[64];
  struct text path = TEXT_OVER(name);
  bool going = true;
  if (pid == 0) text_add(&path, "/proc");
  else task_path(&path, pid, 0, "");
  int fd = open(path.at, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return errno == ENOENT || errno == ESRCH;
  for (long got; going && (got = syscall(SYS_getdents64, fd, buffer, sizeof buffer)) > 0;) {
    for (long at = 0; going && at < got;) {
      const struct directory_entry *entry = (const struct directory_entry *)(void *)(buffer + at);
      uint64_t number = 0;
      at += entry->length;
      if (parse_unsigned(entry->name, INT32_MAX, &number)) going = each(context, (pid_t)number);
    }
  }
  close(fd);
  return going;
}

bool each_process(bool (*each)(void *, pid_t), void *context) { return each_number(0, each, context); }

/* Every thread must have stopped before its process counts as stopped; the leader of a living one may be a zombie. */
static bool note_thread(void *context, pid_t thread) {
  struct member *one = context;
  struct proc_stat stat;
  if (thread != one->pid && proc_stat(one->pid, thread, &stat) && may_run(one->pid, thread, stat.state)) {
    one->running = true;
  }
  return !one->running;
}

struct walk {
  const struct guardian *g;
  struct members *m;
  const struct visit *visit;
  pid_t pid;
};

/* What was not reached may be running. */
static bool out_of_time(const struct walk *w) {
  if (now_ms() < w->visit->until) return false;
  w->m->incomplete = true;
  return true;
}

/* Looks at one process as it is now, but for its threads; a process that has gone meanwhile is not a member. */
static bool glance_at(const struct walk *w, pid_t pid, struct member *one) {
  struct proc_stat stat;
  if (!proc_stat(pid, 0, &stat)) {
    if (errno != ENOENT && errno != ESRCH) w->m->incomplete = true;
    return false;
  }
  *one = (struct member){.pid = pid, .ppid = stat.ppid, .start = stat.start, .state = stat.state};
  one->ended = (stat.state == 'Z' || stat.state == 'X') && stat.threads <= 1;
  one->nested = is_nested(w->g, pid, stat.start);
  one->running = may_run(pid, pid, stat.state);
  one->threaded = stat.threads > 1;
  return true;
}

static void look_closer(struct member *one) {
  if (one->threaded) each_number(one->pid, note_thread, one);
}

/*
 * Turns the bare numbers from `first` on into members. The newest come first: orphans queue up behind zombies that wait
 * to be taken, and a walk that runs out of time must not have spent it on those that run no more.
 */
static void meet_from(const struct walk *w, size_t first) {
  struct members *m = w->m;
  size_t kept = m->count;
  for (size_t at = m->count; at > first && !out_of_time(w); at--) {
    struct member one;
    if (!glance_at(w, m->list[at - 1].pid, &one)) continue;
    look_closer(&one);
    if (w->visit->meet != NULL) w->visit->meet(w->visit->context, &one);
    m->list[--kept] = one;
  }
  if (kept > first && kept < m->count) memmove(m->list + first, m->list + kept, (m->count - kept) * sizeof *m->list);
  m->count -= kept - first;
}

/*
 * The children of one thread: a list of numbers that may be longer than any buffer, read to its end before anybody is
 * looked at, which takes so much longer that the list could grow meanwhile. False: the kernel has no such file.
 */
static bool read_children(const struct walk *w, pid_t thread) {
  char name[64], buffer[1024];
  struct member child = {.pid = 0};
  size_t first = w->m->count;
  struct text path = TEXT_OVER(name);
  if (!task_path(&path, w->pid, thread, CHILDREN)) return false;
  int fd = open(path.at, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno != ENOENT || w->pid != w->g->worker; /* ours is missing only where no process has one */
  for (ssize_t got; !out_of_time(w) && (got = read(fd, buffer, sizeof buffer)) > 0;) {
    for (ssize_t at = 0; at < got; at++) {
      if (buffer[at] >= '0' && buffer[at] <= '9') {
        child.pid = child.pid * 10 + (buffer[at] - '0');
      } else if (child.pid != 0) {
        members_note(w->m, &child);
        child.pid = 0;
      }
    }
  }
  close(fd);
  meet_from(w, first);
  return true;
}

static bool enter_thread(void *context, pid_t thread) { return read_children(context, thread); }

/* Every thread has children of its own. A process that makes its first one meanwhile runs, and is looked at again. */
static bool enter(struct walk *w, pid_t pid, bool threaded) {
  w->pid = pid;
  return threaded ? each_number(pid, enter_thread, w) : read_children(w, pid);
}

static bool note_any(void *context, pid_t pid) {
  const struct walk *w = context;
  struct member one;
  if (glance_at(w, pid, &one)) members_note(w->m, &one);
  return !out_of_time(w);
}

static bool hangs_below(const struct guardian *g, const struct members *all, const struct member *one) {
  struct member key = {.pid = one->ppid};
  for (size_t depth = 0; depth < all->count && key.pid != g->worker; depth++) {
    const struct member *parent = bsearch(&key, all->list, all->count, sizeof key, by_pid);
    if (parent == NULL || parent->nested) return false;
    key.pid = parent->ppid;
  }
  return key.pid == g->worker;
}

/* Without CONFIG_PROC_CHILDREN: one pass over all processes, of which those count whose way up leads to us. */
static void scan_all(const struct walk *ours) {
  struct members all = {0};
  struct walk w = {.g = ours->g, .m = &all, .visit = ours->visit};
  if (!each_number(0, note_any, &w) || all.incomplete) ours->m->incomplete = true;
  members_sort(&all);
  for (size_t at = 0; at < all.count; at++) {
    if (!hangs_below(w.g, &all, &all.list[at])) continue;
    look_closer(&all.list[at]);
    if (w.visit->meet != NULL) w.visit->meet(w.visit->context, &all.list[at]);
    members_note(ours->m, &all.list[at]);
  }
  members_free(&all);
}

/*
 * Whether it is quicker to look at every process there is: a walk opens two files for each member, and every name that is
 * looked up costs once more when its process ends. Where processes are hidden nothing can be said of those.
 */
static bool is_most(const struct guardian *g, size_t members) {
  struct sysinfo all;
  return members > 0 && !g->hides_pids && sysinfo(&all) == 0 && members > all.procs / 2;
}

/* A process that was reparented during the walk was met twice. */
static void drop_doubles(struct members *m) {
  size_t kept = 0;
  members_sort(m);
  for (size_t at = 0; at < m->count; at++) {
    if (kept == 0 || m->list[kept - 1].pid != m->list[at].pid) m->list[kept++] = m->list[at];
  }
  m->count = kept;
}

/*
 * The descendants at about one moment, zombies included, enrolled guardians named but not entered. One walk proves
 * nothing, since the tree moves under it; walks that agree while nobody runs do.
 */
void members_read(const struct guardian *g, struct members *m, const struct visit *visit) {
  struct walk w = {.g = g, .m = m, .visit = visit};
  m->count = 0;
  m->incomplete = false;
  if (is_most(g, visit->expected) || !enter(&w, g->worker, false)) {
    scan_all(&w);
    return;
  }
  for (size_t at = 0; at < m->count && !out_of_time(&w); at++) {
    if (!m->list[at].nested && !m->list[at].ended) enter(&w, m->list[at].pid, m->list[at].threaded);
  }
  drop_doubles(m);
}

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guardian.h"
#include "kernel.h"

static const char *const reserved[SLOTS] = {"start.reserved", "status.reserved", "exit.reserved", "adopted.log"};
static const char *const published[SLOTS] = {"start.json", "status.json", "exit.json", NULL};
static const char *const steps[SLOTS] = {"slotStart", "slotStatus", "slotExit", "slotAdopted"};

static bool is_slot(const struct guardian *g, const struct stat *node, enum slot_name name) {
  const struct slot *slot = &g->slot[name];
  off_t bytes = name == SLOT_ADOPTED ? ADOPTED_BYTES : RECEIPT_BYTES;
#ifdef CUSTODY_WITHOUT_SLOT_CHECK
  (void)slot, (void)bytes;
  return S_ISREG(node->st_mode);
#else
  return S_ISREG(node->st_mode) && node->st_dev == slot->dev && node->st_ino == slot->ino && node->st_nlink == 1 &&
         node->st_size == bytes && node->st_uid == g->uid;
#endif
}

/* The launcher made the slots and recorded which they are; the guardian only recognises them and never makes one. */
static void open_slot(struct guardian *g, enum slot_name name) {
  struct stat node;
  int fd = openat(g->dir, reserved[name], O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) refuse(g, RC_NO_SLOT, steps[name], errno);
  if (fstat(fd, &node) != 0) refuse(g, RC_NO_SLOT, steps[name], errno);
  if (!is_slot(g, &node, name)) refuse(g, RC_NO_SLOT, steps[name], ESTALE);
  g->slot[name].fd = fd;
}

void slots_open(struct guardian *g) {
  struct stat node;
  g->dir = open(g->spec.dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (g->dir < 0 || fstat(g->dir, &node) != 0) refuse(g, RC_NO_SLOT, "dir", errno);
  if (node.st_uid != g->uid || (node.st_mode & 022) != 0) refuse(g, RC_NO_SLOT, "dir", EPERM);
  for (int name = SLOT_START; name < SLOTS; name++) open_slot(g, (enum slot_name)name);
}

/* Overwrites reserved blocks, so it needs no space that a full disk could refuse. */
static bool overwrite(int fd, const char *bytes, size_t length, off_t at) {
  while (length > 0) {
    ssize_t done = pwrite(fd, bytes, length, at);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    bytes += done;
    at += done;
    length -= (size_t)done;
  }
  return true;
}

/* File systems without RENAME_NOREPLACE answer EINVAL; a hard link refuses an existing name just as well. */
static bool rename_once(int dir, const char *from, const char *to) {
  if (rename_new(dir, from, to) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
  return linkat(dir, from, dir, to, 0) == 0 && unlinkat(dir, from, 0) == 0;
}

/* Whoever can write into the directory can exchange the reserved name; then another file was renamed, not our slot. */
static bool carries_our_inode(const struct guardian *g, enum slot_name name) {
  struct stat node;
  return fstatat(g->dir, published[name], &node, AT_SYMLINK_NOFOLLOW) == 0 && is_slot(g, &node, name);
}

/* The bytes are ours: the workload can give our slot its public name, and cannot know the nonce. */
static bool holds_our_receipt(const struct guardian *g, enum slot_name name) {
  char bytes[RECEIPT_BYTES];
  const struct slot *slot = &g->slot[name];
  return pread(slot->fd, bytes, sizeof bytes, 0) == sizeof bytes && bytes[sizeof bytes - 1] == '\n' &&
         memmem(bytes, sizeof bytes, slot->nonce, NONCE_BYTES) != NULL;
}

/* What a lost worker had published stays as it is, and may have kept its old name beside the new one. */
static bool is_published(const struct guardian *g, enum slot_name name) {
  struct stat node, old;
  const struct slot *slot = &g->slot[name];
  if (!g->took_over || fstatat(g->dir, published[name], &node, AT_SYMLINK_NOFOLLOW) != 0) return false;
  if (node.st_dev != slot->dev || node.st_ino != slot->ino || !holds_our_receipt(g, name)) return false;
  bool doubled = node.st_nlink > 1 && fstatat(g->dir, reserved[name], &old, AT_SYMLINK_NOFOLLOW) == 0;
  if (doubled && old.st_dev == slot->dev && old.st_ino == slot->ino) unlinkat(g->dir, reserved[name], 0);
  return carries_our_inode(g, name);
}

/*
 * Pads the line to the receipt's fixed size (a torn write shows by its length), writes it into the reserved space and
 * gives it its public name, never replacing one. Only the exit receipt outlives the boot that its readers live in, so
 * only it is synced. Returns whether the receipt is there, for the exit receipt: durably.
 */
bool slot_publish(struct guardian *g, enum slot_name name, struct text *line) {
  int fd = g->slot[name].fd;
  if (line->full || line->room != RECEIPT_BYTES + 1) return false;
  memset(line->at + line->used, ' ', RECEIPT_BYTES - line->used);
  line->at[RECEIPT_BYTES - 1] = '\n';
  const bool already = is_published(g, name);
  if (!already && !overwrite(fd, line->at, RECEIPT_BYTES, 0)) return false;
  if (name == SLOT_EXIT && fdatasync(fd) != 0) return false;
  step("unnamed");
  if (!already && !rename_once(g->dir, reserved[name], published[name])) return false;
  if (!already && !carries_our_inode(g, name)) return false;
  step("named");
  return name != SLOT_EXIT || fsync(g->dir) == 0;
}

/*
 * One line per adopted child, still unreaped, so its start time can be read. An enclosing guardian's log is where the
 * status of a workload is found whose own guardian was killed. A full log only loses lines; the counts go on.
 */
void adopted_append(struct guardian *g, pid_t pid, int wait_status) {
  char buffer[128];
  struct proc_stat stat;
  struct text line = TEXT_OVER(buffer);
  if (g->adopted_used + sizeof buffer > ADOPTED_BYTES || !proc_stat(pid, 0, &stat)) return;
  text_add(&line, "{\"pid\":");
  text_unsigned(&line, (uint64_t)pid);
  text_add(&line, ",\"start\":\"");
  text_unsigned(&line, stat.start);
  text_add(&line, "\",\"status\":");
  text_signed(&line, wait_status);
  text_add(&line, "}\n");
  if (overwrite(g->slot[SLOT_ADOPTED].fd, line.at, line.used, (off_t)g->adopted_used)) g->adopted_used += line.used;
}

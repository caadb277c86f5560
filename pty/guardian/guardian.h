/*
 * The guardian: one small process per execution scope. It is the child subreaper of one workload, so it alone can
 * say when no descendant of that workload remains, and it says so in a receipt. It starts nothing before the space
 * for that receipt exists, and runs nothing before its launcher opens the gate.
 *
 * Two processes: the one that was started waits, and its fork works; either goes on without the other (witness.c). One
 * thread each, one struct in memory that both see, one poll loop. Each concern has a file of the same name; this header is the map.
 */
#ifndef CUSTODY_GUARDIAN_H
#define CUSTODY_GUARDIAN_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "text.h"

enum { PROTOCOL = 1, LINK_FD = 3 };

/* Exit codes. 0 means: the exit receipt is durable. */
enum {
  RC_USAGE = 2,
  RC_BAD_SPEC = 64,
  RC_NO_SLOT = 73,
  RC_NOT_DURABLE = 74,
  RC_NOT_ENROLLED = 75,
  RC_KERNEL = 125,
};

enum {
  RECEIPT_BYTES = 4096,
  ADOPTED_BYTES = 16384,
  FRAME_MAX = 8 << 20,
  NAME_MAX_BYTES = 64,
  NONCE_BYTES = 32,
  DIGEST_HEX = 64,
  KNOWN_BUILDS = 8,
  CLIENTS = 128,
  PLAIN_CLIENTS = 32, /* the rest is kept for nested guardians: an idle viewer must not keep one from enrolling */
  LISTED = 256,       /* members named in one answer; totals are always exact */
};

/* A process, in words that survive the reuse of its pid. pidfs is 0 where the kernel has no pidfs (before 6.9). */
struct identity {
  pid_t pid;
  uint64_t start; /* clock ticks since boot, field 22 of /proc/PID/stat */
  uint64_t pidfs; /* inode of its pidfd */
};

struct proc_stat {
  pid_t ppid;
  char state;
  uint64_t threads;
  uint64_t start;
};

enum slot_name { SLOT_START, SLOT_STATUS, SLOT_EXIT, SLOT_ADOPTED, SLOTS };

struct slot {
  int fd;
  uint64_t dev, ino;
  char nonce[NONCE_BYTES + 1];
};

/* What the launcher asks for. The strings live in the frame, which is unmapped once the workload has started. */
struct spec {
  char *frame;
  size_t frame_bytes;
  const char *dir, *cwd, *up, *cgroup;
  char **argv, **env;
  size_t argc, envc;
  uint64_t umask, handshake_ms, grace_ms, budget_ms;
  uint64_t terminal, linger_ms;
};

enum phase { GATED, RELEASING, RUNNING, ROOT_ENDED, LINGERING, LEAVING };

/* What becomes of the terminal on descriptor 0, decided by what is found there. */
enum terminal_mode {
  TERMINAL_NONE,   /* the launcher has not asked for one */
  TERMINAL_NEW,    /* nobody's yet: the workload takes it for a session of its own */
  TERMINAL_HELD,   /* ours, as the leader of its session: given up first, then the same */
  TERMINAL_SHARED, /* that of a session which we are only a member of: the workload becomes a job there */
};

enum how { HOW_PENDING, HOW_EXITED, HOW_SIGNALED, HOW_DUMPED, HOW_EXEC_FAILED, HOW_NOT_RELEASED };

/* How the workload ended; absent is the value of a field that does not apply. */
struct outcome {
  enum how how;
  int code, signal, error, wait_status;
};
enum { ABSENT = -1 };

struct client {
  int fd; /* -1: free */
  bool follows; /* wants the events of the drain in progress */
  bool nested;  /* an enrolled guardian; the connection lives as long as one of its two processes does */
  bool done;    /* the nested guardian has reported its own durable exit receipt */
  bool stalled; /* it has given up a round of its drain since it was asked */
  int pidfd, worker_fd;
  struct identity peer, worker; /* of a nested guardian: the process that enrolled, and its fork that works */
  uint64_t lost_as; /* what lost_nested becomes with the loss of this one; 0 until it is lost */
  size_t used;
  char line[128];
};

struct member {
  pid_t pid, ppid;
  uint64_t start;
  uint64_t pidfs; /* inode of its pidfd where it was stopped through one; 0: not known */
  char state;
  bool running; /* some thread could still run user code */
  bool ended;   /* a zombie without other threads */
  bool threaded;
  bool nested;  /* an enrolled guardian: listed, never entered, never signalled but for SIGTERM */
};

struct members {
  struct member *list;
  size_t count, room;
  bool incomplete; /* the walk failed for want of memory, access or time: no convergence may be claimed */
};

enum { TOLD_QUIESCED, TOLD_SIGNALLED };

enum drain_phase { DRAIN_IDLE, DRAIN_GRACE, DRAIN_QUIESCE, DRAIN_KILL, DRAIN_EXHAUSTED };

struct drain {
  enum drain_phase phase;
  int64_t grace_until, budget_until, next_at; /* monotonic ms; next_at is when the next step is due */
  uint64_t scans, digest;
  size_t expected; /* members, when nobody was seen to run */
  unsigned agreements;
  unsigned unfinished; /* walks that their time did not suffice for: the next ones get more */
  bool warned;   /* everybody but nested guardians has had the SIGTERM of this round */
  bool asked;    /* the nested guardians, in this round */
  bool told[2];  /* whoever follows has heard that this round has frozen, and that it has signalled */
  int witnessed; /* a file in memory: whom this round has stopped and woken, for whoever has to go on with it; -1: none */
  bool cgroup_stops; /* the workload's cgroup is frozen, or about to be */
  int64_t cgroup_until; /* as long the kernel may take for that */
  struct members cgroup; /* who is in it */
  struct members suspended; /* exactly those that this drain has stopped */
  struct members woken;     /* stopped before the drain, and continued by it to act on SIGTERM */
  struct members frozen;    /* the tree that scans have agreed on, by pid: nobody else is killed */
  struct members unkillable;
  char *quiesced, *signalled; /* event lines, kept for clients that attach late */
};

/* One child that is being noted and taken, and what the counts were before; pid 0: none. */
struct taking {
  pid_t pid;
  enum phase phase;
  uint64_t reaped, adopted, adopted_used;
};

/* A termination that has been accepted; open until it has begun. */
struct order {
  bool open;
  uint64_t grace_ms, budget_ms;
};

struct guardian {
  struct spec spec;
  char scope[NAME_MAX_BYTES + 1], installation[NAME_MAX_BYTES + 1];
  char boot[40], enclosing[384];
  uint64_t pidns, timens, exe_dev, exe_ino;
  uid_t uid;
  int link, dir, signals, listener, up, child_pidfd, gate, exec_error, terminal, cgroup_parent, cgroup;
  char build[KNOWN_BUILDS][DIGEST_HEX + 1]; /* digests of other guardian builds that may enrol here */
  size_t builds;
  struct slot slot[SLOTS];
  struct identity self, child; /* self: the process that was started, whichever of the two works now */
  pid_t worker;                /* whoever works now, and so the parent of the tree */
  bool launched;               /* the gated child is known: from here on its end is ours to prove */
  bool took_over;              /* the worker was lost, and its witness works */
  int passed;                  /* a signal that the witness has passed on and that the worker has not yet heeded */
  int exec_errno;              /* why the image could not be executed, in the child's own words; 0: it could */
  struct taking taking;
  enum phase phase;
  int64_t gate_until;
  const char *abandoned; /* why the gate was never opened; NULL while that is undecided */
  struct outcome outcome;
  uint64_t reaped, adopted, lost_nested, adopted_used;
  bool terminated, hides_pids;
  struct order order;
  bool more_ended; /* the last turn of reaping has left some: the loop must not sleep */
  struct drain drain;
  enum terminal_mode mode;
  bool job_stopped; /* the workload has been stopped at the terminal and not yet been continued by us */
  char marker_nonce[NONCE_BYTES + 1];
  char marker[NONCE_BYTES + 32];
  size_t marker_left; /* of the marker, still to be written */
  int64_t linger_until;
  int code; /* what this process will exit with */
  struct client client[CLIENTS];
};

/* link.c: the stream to the launcher */
void link_event(struct guardian *g, const struct text *line);
void link_linger(struct guardian *g);
_Noreturn void refuse(struct guardian *g, int code, const char *step, int error);

/* spec.c, parse.c: the frame from the launcher */
void spec_read(struct guardian *g);
void spec_forget(struct guardian *g);
bool spec_parse(struct guardian *g, const char **wrong);

/* clock.c */
int64_t now_ms(void);
uint64_t boottime_ns(void);

/* identity.c: who is who, from /proc and pidfds */
bool proc_stat(pid_t pid, pid_t thread, struct proc_stat *out);
bool proc_read(struct text *path, char *buffer, size_t room, size_t *length);
uint64_t pidfs_number(int pidfd);
bool identify(pid_t pid, int pidfd, struct identity *out);
void identity_text(struct text *t, const struct identity *id);
int signal_verified(pid_t pid, uint64_t start, int number);
int signal_known(struct member *m, int number);

/* context.c: what the receipts say about the host */
bool context_read(struct guardian *g);
bool proc_hides_pids(void);

/* slots.c: reserved receipt space */
void slots_open(struct guardian *g);
bool slot_publish(struct guardian *g, enum slot_name name, struct text *line);
void adopted_append(struct guardian *g, pid_t pid, int wait_status);

/* receipt.c: what the receipts say */
bool receipt_start(struct guardian *g);
bool receipt_status(struct guardian *g);
bool receipt_exit(struct guardian *g);

/* launch.c, workload.c: the gated child */
void launch(struct guardian *g);
void gate_open(struct guardian *g);
void gate_pass(struct guardian *g);
void gate_abandon(struct guardian *g, const char *reason);
void exec_result(struct guardian *g);
struct gated {
  struct spec spec; /* a copy: the guardian forgets its own, in memory that the child sees as well */
  int gate, error;
};
_Noreturn void become_workload(struct guardian *g, const struct gated *its);

/* terminal.c: a workload with a terminal */
void terminal_find(struct guardian *g);
void terminal_await(struct guardian *g);
bool terminal_is_ours(const struct guardian *g);
int terminal_take(const struct guardian *g);

/* job.c: a workload in the terminal of an interactive shell */
void job_begin(const struct guardian *g);
void job_end(const struct guardian *g);
void job_continue(struct guardian *g);
void job_hang_up(struct guardian *g);
void job_watch(struct guardian *g);

/* linger.c: the end of a terminal's output */
bool linger_due(const struct guardian *g);
void linger_begin(struct guardian *g);
void linger_write(struct guardian *g);
void linger_heard(struct guardian *g);
void linger_shorten(struct guardian *g);
void linger_end(struct guardian *g);

/* reap.c */
bool reap_turn(struct guardian *g);
void reap_again(struct guardian *g);
bool has_children(void);
void await_children(void);

/* witness.c: the loss of one process loses nothing */
void become_subreaper(struct guardian *g);
void witness_begin(struct guardian *g);
void witness_continue(const struct guardian *g);
void let_go(int *fd);
/* What stands above is in the memory of both before what stands below, for whoever finds only the half of it. */
static inline void in_order(void) { atomic_signal_fence(memory_order_seq_cst); }

/* mend.c: what a worker was in the middle of when it was lost */
void take_over(struct guardian *g);

/* loop.c */
int guard(struct guardian *g);

/* control.c, answer.c: the socket */
void control_open(struct guardian *g);
void control_listen(struct guardian *g);
void control_close(struct guardian *g);
void control_accept(struct guardian *g);
void client_ready(struct guardian *g, struct client *c);
void client_drop(struct guardian *g, struct client *c);
bool client_send(struct guardian *g, struct client *c, const char *line, size_t length);
void client_request(struct guardian *g, struct client *c, char *line);
void tell_followers(struct guardian *g, const char *line, size_t length);

/* enrol.c: both sides of nesting */
void enrol_with_enclosing(struct guardian *g);
void enrol_done(struct guardian *g);
void enrol_stalled(const struct guardian *g);
void enrol_worker(const struct guardian *g);
void enrol_answer(struct guardian *g, struct client *c, const char *scope);
void enrol_note_worker(const struct guardian *g, struct client *c, const char *number);
void nested_terminate(struct client *c);
void nested_settle(struct guardian *g);
bool is_nested(const struct guardian *g, pid_t pid, uint64_t start);
bool nested_unfinished(const struct guardian *g);

/* digest.c: SHA-256 in lowercase hex, of bytes as they come or of an executable */
struct digest {
  uint32_t state[8];
  unsigned char block[64];
  uint64_t total;
};
void digest_begin(struct digest *d);
void digest_add(struct digest *d, const void *bytes, size_t length);
void digest_end(struct digest *d, char hex[DIGEST_HEX + 1]);
bool digest_of(int fd, char hex[DIGEST_HEX + 1]);

/* members.c: the descendants */
enum { WALK_MS = 100 }; /* for one walk: a tree can grow as fast as it is walked */
struct visit {
  int64_t until; /* a walk that is not over by then is incomplete */
  size_t expected; /* members; 0: nobody knows, and whoever runs has to be stopped on the way */
  void (*meet)(void *context, const struct member *one); /* may be NULL; called before the children are entered */
  void *context;
};
void members_read(const struct guardian *g, struct members *m, const struct visit *visit);
bool members_note(struct members *m, const struct member *one);
const struct member *members_find(const struct members *m, pid_t pid, uint64_t start);
void members_sort(struct members *m);
const struct member *members_search(const struct members *by_pid, pid_t pid, uint64_t start);
void members_free(struct members *m);
bool each_process(bool (*each)(void *context, pid_t pid), void *context);

/* cgroup.c: a cgroup v2 for the workload, where one may be made */
void cgroup_enter(struct guardian *g);
void cgroup_freeze(struct guardian *g);
void cgroup_thaw(struct guardian *g);
bool cgroup_settled(struct guardian *g);
bool cgroup_stops(const struct guardian *g, pid_t pid);
bool cgroup_kill(struct guardian *g);
void cgroup_remove(struct guardian *g);

/* sweep.c: one signal to every descendant */
struct sweep {
  size_t living, running, sent, skipped;
  size_t newcomers; /* living, and not of the tree that was frozen */
  size_t in_cgroup; /* living, and stopped by the cgroup */
  uint64_t digest;
};
void sweep(struct guardian *g, struct members *m, int number, struct sweep *out);
void kill_frozen(struct guardian *g, struct sweep *out);
void resume_suspended(struct guardian *g);
void recall_round(struct guardian *g);

/* drain.c, drain_events.c: bounded termination */
void drain_order(struct guardian *g, uint64_t grace_ms, uint64_t budget_ms);
bool drain_begin(struct guardian *g, uint64_t grace_ms, uint64_t budget_ms);
void drain_step(struct guardian *g);
bool drain_active(const struct guardian *g);
void drain_nested_ended(struct guardian *g);
void drain_inherit(struct guardian *g);
void drain_attach(struct guardian *g, struct client *c);
void say_quiesced(struct guardian *g, const struct members *m, size_t living);
void say_signalled(struct guardian *g, size_t total, size_t skipped);
void say_exhausted(struct guardian *g, const struct members *m);
void say_settled(struct guardian *g, int code);

/* signal.c: `custody-guardian signal PID START UID SIGNAL` */
int signal_command(char **argv);

/* peer.c: `custody-guardian peer` */
int peer_command(void);

/* Named points at which a test build can stop or kill the guardian; nothing in a shipped build. */
#ifdef CUSTODY_TEST_STEPS
void step(const char *name);
void step_beside(pid_t witness);
#else
#define step(name) ((void)0)
#define step_beside(witness) ((void)(witness))
#endif

#endif

/*
 * custody-note: a launcher says what it does, and goes on. One call writes at most one note into the spool of its producer
 * (docs/notes.md) and returns within its bound, whatever the disk, a lock or a network file system do: the work is done
 * by a fork that nobody waits for any longer than that. The old path never fails through it; a note that could not be
 * written leaves a hole in the numbers, or a trace that becomes one.
 *
 * Each concern has a file; who a process is, bounded text and the named steps of test builds are the guardian's.
 */
#ifndef CUSTODY_NOTE_H
#define CUSTODY_NOTE_H

#include "../guardian/guardian.h"

enum {
  NOTE_BYTES = 16384, /* with its line feed; machines/note.ts */
  HEAD_BYTES = 256,   /* of it, what is known only under the lock */
  SUM_BYTES = 80,     /* and what is known last */
  COUNTER_BYTES = 289,
  FORMER_BYTES = 128, /* of a record without a sum */
  STREAM_DIGITS = 32,
  SEQ_DIGITS = 20,
  BOOT_LETTERS = 36,
  SAID_BYTES = 512,
  LABEL_UNITS = 200,
  DEFAULT_WAIT_MS = 100, /* INT-05 */
  LONGEST_WAIT_MS = 60000,
#ifdef CUSTODY_SMALL_SPOOL
  SPOOL_NOTES = 4,
#else
  SPOOL_NOTES = 10000, /* full when so many lie behind one that nobody has taken in; docs/notes.md */
#endif
  WORK_SECONDS = 10, /* a fork that hangs in a dead file system ends itself, or they would pile up */
};

enum { EXIT_TOLD = 0, EXIT_NOT_TOLD = 1, EXIT_USAGE = 2 };

enum kind { KIND_RESERVE, KIND_BIND, KIND_PLACE, KIND_EXIT };

/* What the caller wants said. The strings are its arguments. */
struct request {
  enum kind kind;
  const char *run, *worktree, *label, *retry_of, *producer, *state_dir;
  pid_t pid;
  int code, signal; /* ABSENT: not said */
  uint64_t wait_ms;
  bool strict;
  int64_t began_ms; /* CLOCK_MONOTONIC */
  int64_t wall_ms;
};

/* PARTLY: the note is there without something that it should have said, and a trace tells that. */
enum fate { TOLD, PARTLY, NOT_TOLD };

/* arguments.c: false means a usage error, which has been printed. */
enum asked { ASKED_NOTE, ASKED_HELP, ASKED_VERSION, ASKED_WRONG };
enum asked arguments_read(int argc, char **argv, struct request *r);
void usage_print(int fd);

/* signals.c: 1..64 by number or name, otherwise false */
bool signal_number(const char *word, int *number);

/* json.c: false when the bytes are no UTF-8, or more UTF-16 units than allowed */
bool json_string(struct text *t, const char *bytes, size_t max_units);

/* process.c, place.c: what the kernel says, as JSON; false when it cannot be said, with the reason in `said` */
bool boot_read(char boot[BOOT_LETTERS + 1]);
bool process_text(struct text *t, pid_t pid, struct text *said);
bool place_text(struct text *t, const char *directory, struct text *said);

/* directory.c: the spool of one producer, ours alone; -1 with the reason in `said` */
int spool_directory(const struct request *r, struct text *said);

/* counter.c: who may write, and under which number */
struct counter {
  int fd;
  char stream[STREAM_DIGITS + 1], boot[BOOT_LETTERS + 1];
  uint64_t next;    /* the number of the next note */
  uint64_t folded;  /* traces for which numbers have been left out already */
  uint64_t settled; /* the last number that was lost because the spool was full; 0: none */
  uint64_t held;    /* notes that were written since the mark, which is one of them */
  uint64_t mark;    /* number of the mark in its stream; 0 when nothing is held */
  char mark_stream[STREAM_DIGITS + 1];
  bool is_former; /* read from a record without a sum */
};
bool counter_open(int dir, const char *boot, struct counter *c);
bool counter_lock(int dir, const char *boot, struct counter *c, int64_t until_ms);
enum granted { NOTHING, NUMBER, NUMBER_IN_VAIN };
enum granted counter_take(int dir, const char *boot, struct counter *c, uint64_t *seq);
void counter_written(struct counter *c, uint64_t seq);
bool counter_trace(int dir);

/* record.c: the counter as bytes. Readers keep numbers in doubles. */
#define LAST_SEQ UINT64_C(9007199254740991)
bool record_read(struct counter *c);
bool record_write(const struct counter *c);
void padded(struct text *t, uint64_t value);

/* write.c: one note under one lock */
enum written { WRITTEN, NUMBER_LOST, NO_NUMBER };
struct draft {
  const char *producer, *boot;
  const struct text *body; /* everything between the number and the sum */
  int64_t until_ms;        /* for the lock */
};
void note_name(struct text *name, const char *stream, uint64_t seq);
enum written note_write(int dir, const struct draft *draft, struct text *said);

/* work.c: the whole of it, in the fork */
enum fate work(const struct request *r, struct text *said);

/* say.c */
void say(struct text *said, const char *what, int error);

#endif

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "note.h"

static const char help[] =
    "usage: custody-note reserve RUN [--worktree DIR] [--label TEXT] [--retry-of RUN]\n"
    "       custody-note bind RUN [--pid PID] [--worktree DIR]\n"
    "       custody-note worktree RUN DIR\n"
    "       custody-note exit RUN (--code N | --signal NAME|N)\n"
    "\n"
    "Tells Custody about a run that you start by yourself. Never waits longer than 100 ms, and never fails what calls it:\n"
    "the exit status is 0 also when the note was lost, which is said on stderr and shows in `custody coverage`.\n"
    "\n"
    "  --producer NAME   who speaks (default: $CUSTODY_PRODUCER, else shell)\n"
    "  --state-dir DIR   default: $CUSTODY_HOME, else $XDG_STATE_HOME/custody, else ~/.local/state/custody\n"
    "  --wait MS         another bound than 100\n"
    "  --strict          exit status 1 when the note was lost, or lost a part\n"
    "  --pid PID         the process that is the run (default: whoever calls, so the shell itself)\n"
    "\n"
    "RUN is your own name for the run: letters, digits and . _ : / -, at most 128. Wrong usage is exit status 2.\n";

void usage_print(int fd) {
  ssize_t ignored = write(fd, help, sizeof help - 1);
  (void)ignored;
}

/* The word that is wrong, as far as a terminal may see it. */
static enum asked wrong(const char *what, const char *word) {
  char buffer[256];
  struct text line = TEXT_OVER(buffer);
  text_add(&line, "custody-note: ");
  text_add(&line, what);
  if (word != NULL) text_add(&line, " `");
  for (size_t at = 0; word != NULL && word[at] != '\0' && at < 64; at++)
    text_bytes(&line, word[at] >= ' ' && word[at] <= '~' ? word + at : "?", 1);
  text_add(&line, word == NULL ? "; see --help\n" : "`; see --help\n");
  ssize_t ignored = write(2, line.at, line.used);
  (void)ignored;
  return ASKED_WRONG;
}

static bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool is_run(const char *word) {
  size_t length = strlen(word);
  if (length == 0 || length > 128 || !is_alphanumeric(*word)) return false;
  for (; *word != '\0'; word++)
    if (!is_alphanumeric(*word) && strchr("._:/-", *word) == NULL) return false;
  return true;
}

/* It becomes the name of a directory, so nothing that leads elsewhere. */
static bool is_producer(const char *word) {
  size_t length = strlen(word);
  if (length == 0 || length > 64 || !is_alphanumeric(*word)) return false;
  for (; *word != '\0'; word++)
    if ((*word >= 'A' && *word <= 'Z') || (!is_alphanumeric(*word) && strchr("._-", *word) == NULL)) return false;
  return true;
}

static bool take_text(const char **into, const char *value) {
  *into = value;
  return true;
}

static bool take_number(int *into, const char *value, uint64_t max) {
  uint64_t number = 0;
  if (!parse_unsigned(value, max, &number)) return false;
  *into = (int)number;
  return true;
}

enum { ON_RESERVE = 1 << KIND_RESERVE, ON_BIND = 1 << KIND_BIND, ON_PLACE = 1 << KIND_PLACE, ON_EXIT = 1 << KIND_EXIT };
enum { EVERYWHERE = ON_RESERVE | ON_BIND | ON_PLACE | ON_EXIT };

static const struct {
  const char *name;
  int where;
  char letter;
} options[] = {
    {"--producer", EVERYWHERE, 'p'}, {"--state-dir", EVERYWHERE, 's'}, {"--wait", EVERYWHERE, 'w'},
    {"--worktree", ON_RESERVE | ON_BIND, 'd'}, {"--label", ON_RESERVE, 'l'}, {"--retry-of", ON_RESERVE, 'r'},
    {"--pid", ON_BIND, 'i'}, {"--code", ON_EXIT, 'c'}, {"--signal", ON_EXIT, 'n'},
};

static bool take(struct request *r, char letter, const char *value) {
  uint64_t number = 0;
  switch (letter) {
    case 'p': return take_text(&r->producer, value) && is_producer(value);
    case 's': return take_text(&r->state_dir, value) && *value != '\0';
    case 'w': return parse_unsigned(value, LONGEST_WAIT_MS, &r->wait_ms) && r->wait_ms > 0;
    case 'd': return take_text(&r->worktree, value) && *value != '\0';
    case 'l': return take_text(&r->label, value);
    case 'r': return take_text(&r->retry_of, value) && is_run(value);
    case 'c': return take_number(&r->code, value, 255);
    case 'n': return signal_number(value, &r->signal);
    default:
      if (!parse_unsigned(value, INT32_MAX, &number) || number == 0) return false;
      r->pid = (pid_t)number;
      return true;
  }
}

/* `--name VALUE` or `--name=VALUE`; moves on to the last word that it has used. */
static enum asked read_option(char ***at, struct request *r) {
  const char *word = **at, *equals = strchr(word, '=');
  size_t length = equals == NULL ? strlen(word) : (size_t)(equals - word);
  if (strcmp(word, "--strict") == 0) {
    r->strict = true;
    return ASKED_NOTE;
  }
  for (size_t one = 0; one < sizeof options / sizeof *options; one++) {
    if (strlen(options[one].name) != length || strncmp(options[one].name, word, length) != 0) continue;
    if ((options[one].where & 1 << r->kind) == 0) return wrong("this command does not take", options[one].name);
    const char *value = equals == NULL ? *++*at : equals + 1;
    if (value == NULL) return wrong("a value is missing behind", options[one].name);
    return take(r, options[one].letter, value) ? ASKED_NOTE : wrong("not usable as a value:", value);
  }
  return wrong("unknown option", word);
}

static enum asked check(const struct request *r) {
  if (r->run == NULL) return wrong("the RUN is missing", NULL);
  if (!is_run(r->run)) return wrong("not usable as a RUN:", r->run);
  if (r->kind == KIND_PLACE && r->worktree == NULL) return wrong("the DIR is missing", NULL);
  if (r->kind == KIND_EXIT && (r->code == ABSENT) == (r->signal == ABSENT)) return wrong("give one of --code, --signal", NULL);
  return is_producer(r->producer) ? ASKED_NOTE : wrong("not usable as a producer:", r->producer);
}

static bool read_kind(const char *word, enum kind *kind) {
  static const char *const names[] = {"reserve", "bind", "worktree", "exit"};
  for (int at = KIND_RESERVE; at <= KIND_EXIT; at++) {
    if (strcmp(names[at], word) != 0) continue;
    *kind = (enum kind)at;
    return true;
  }
  return false;
}

enum asked arguments_read(int argc, char **argv, struct request *r) {
  const char *producer = getenv("CUSTODY_PRODUCER");
  bool plain = false;
  *r = (struct request){.code = ABSENT, .signal = ABSENT, .wait_ms = DEFAULT_WAIT_MS, .pid = getppid()};
  r->producer = producer == NULL || *producer == '\0' ? "shell" : producer;
  for (int at = 1; at < argc && strcmp(argv[at], "--") != 0; at++)
    if (strcmp(argv[at], "--help") == 0) return ASKED_HELP;
  if (argc == 2 && strcmp(argv[1], "--version") == 0) return ASKED_VERSION;
  if (argc < 2) return wrong("a command is missing", NULL);
  if (!read_kind(argv[1], &r->kind)) return wrong("unknown command", argv[1]);
  for (char **at = argv + 2; *at != NULL; at++) {
    if (!plain && strcmp(*at, "--") == 0) plain = true;
    else if (!plain && strncmp(*at, "-", 1) == 0) {
      if (read_option(&at, r) != ASKED_NOTE) return ASKED_WRONG;
    } else if (r->run == NULL) r->run = *at;
    else if (r->kind == KIND_PLACE && r->worktree == NULL) r->worktree = *at;
    else return wrong("one word too many:", *at);
  }
  return check(r);
}

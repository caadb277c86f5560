#include <signal.h>
#include <string.h>

#include "note.h"

static const struct {
  const char *name;
  int number;
} names[] = {
    {"HUP", SIGHUP},     {"INT", SIGINT},       {"QUIT", SIGQUIT}, {"ILL", SIGILL},       {"TRAP", SIGTRAP},
    {"ABRT", SIGABRT},   {"BUS", SIGBUS},       {"FPE", SIGFPE},   {"KILL", SIGKILL},     {"USR1", SIGUSR1},
    {"SEGV", SIGSEGV},   {"USR2", SIGUSR2},     {"PIPE", SIGPIPE}, {"ALRM", SIGALRM},     {"TERM", SIGTERM},
    {"CHLD", SIGCHLD},   {"CONT", SIGCONT},     {"STOP", SIGSTOP}, {"TSTP", SIGTSTP},     {"TTIN", SIGTTIN},
    {"TTOU", SIGTTOU},   {"URG", SIGURG},       {"XCPU", SIGXCPU}, {"XFSZ", SIGXFSZ},     {"PROF", SIGPROF},
    {"WINCH", SIGWINCH}, {"VTALRM", SIGVTALRM}, {"IO", SIGIO},     {"POLL", SIGPOLL},     {"SYS", SIGSYS},
#ifdef SIGPWR
    {"PWR", SIGPWR},
#endif
#ifdef SIGSTKFLT
    {"STKFLT", SIGSTKFLT},
#endif
};

bool signal_number(const char *word, int *number) {
  uint64_t value = 0;
  if (parse_unsigned(word, 64, &value)) {
    *number = (int)value;
    return value > 0;
  }
  const char *bare = strncmp(word, "SIG", 3) == 0 ? word + 3 : word;
  for (size_t at = 0; at < sizeof names / sizeof *names; at++) {
    if (strcmp(names[at].name, bare) != 0) continue;
    *number = names[at].number;
    return true;
  }
  return false;
}

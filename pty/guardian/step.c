/*
 * Test builds only: CUSTODY_TEST_STEP=kill:NAME or stop:NAME ends or halts the guardian, both processes of it, at a named
 * point of its work; killWorker:NAME and killWitness:NAME only the one that has come there, or the other one. NAME#2 is
 * the second time.
 */
typedef int translation_unit_is_never_empty;

#ifdef CUSTODY_TEST_STEPS
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "guardian.h"
#include "kernel.h"

static pid_t witness; /* beside this process; 0: there is none */

void step_beside(pid_t pid) { witness = pid; }

static bool has_come(const char *wanted, const char *name) {
  static unsigned times;
  size_t length = strlen(name);
  if (strncmp(wanted, name, length) != 0) return false;
  if (wanted[length] == '\0') return true;
  return wanted[length] == '#' && ++times == (unsigned)atoi(wanted + length + 1);
}

void step(const char *name) {
  const char *wanted = getenv("CUSTODY_TEST_STEP");
  const char *at = wanted == NULL ? NULL : strchr(wanted, ':');
  if (at == NULL || !has_come(at + 1, name)) return;
  const int number = strncmp(wanted, "stop", 4) == 0 ? SIGSTOP : SIGKILL;
  const bool only_worker = strncmp(wanted, "killWorker", 10) == 0, only_witness = strncmp(wanted, "killWitness", 11) == 0;
  if (only_worker && witness == 0) return; /* nobody is left who could go on */
  if (!only_worker && witness != 0) signal_pidfd(open_pidfd(witness), number);
  if (!only_witness) raise(number);
}
#endif

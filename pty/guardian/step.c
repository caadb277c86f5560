/* Test builds only: CUSTODY_TEST_STEP=kill:NAME or stop:NAME ends or halts the guardian at a named point of its work. */
typedef int translation_unit_is_never_empty;

#ifdef CUSTODY_TEST_STEPS
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "guardian.h"

void step(const char *name) {
  const char *wanted = getenv("CUSTODY_TEST_STEP");
  if (wanted == NULL || strlen(wanted) < 6 || strcmp(wanted + 5, name) != 0) return;
  raise(strncmp(wanted, "kill:", 5) == 0 ? SIGKILL : SIGSTOP);
}
#endif

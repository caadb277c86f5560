#include <string.h>

#include "note.h"

/* Reasons are told without names: a path may hold anything, and a terminal obeys much of it. */
void say(struct text *said, const char *what, int error) {
  if (said->used > 0) text_add(said, "; ");
  text_add(said, what);
  if (error == 0) return;
  text_add(said, ": ");
  text_add(said, strerror(error));
}

#include <time.h>

#include "guardian.h"

static uint64_t clock_ns(clockid_t id) {
  struct timespec at = {0};
  clock_gettime(id, &at);
  return (uint64_t)at.tv_sec * 1000000000u + (uint64_t)at.tv_nsec;
}

/* Deadlines use the clock that poll(2) waits on. */
int64_t now_ms(void) { return (int64_t)(clock_ns(CLOCK_MONOTONIC) / 1000000u); }

/* Receipts use the clock that also counts suspended time, so that their order holds across a sleep of the machine. */
uint64_t boottime_ns(void) { return clock_ns(CLOCK_BOOTTIME); }

#include "text.h"

#include <string.h>

struct text text_over(char *buffer, size_t room) {
  buffer[0] = '\0';
  return (struct text){.at = buffer, .used = 0, .room = room, .full = false};
}

void text_bytes(struct text *t, const char *bytes, size_t length) {
  if (t->full || length >= t->room - t->used) {
    t->full = true;
    return;
  }
  memcpy(t->at + t->used, bytes, length);
  t->used += length;
  t->at[t->used] = '\0';
}

void text_add(struct text *t, const char *piece) { text_bytes(t, piece, strlen(piece)); }

void text_unsigned(struct text *t, uint64_t value) {
  char digits[20];
  size_t first = sizeof digits;
  do {
    digits[--first] = (char)('0' + value % 10);
    value /= 10;
  } while (value != 0);
  text_bytes(t, digits + first, sizeof digits - first);
}

void text_signed(struct text *t, int64_t value) {
  if (value < 0) text_add(t, "-");
  text_unsigned(t, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

static bool parse_base(const char *digits, unsigned base, uint64_t max, uint64_t *value) {
  uint64_t sum = 0;
  if (*digits == '\0') return false;
  for (; *digits != '\0'; digits++) {
    unsigned digit = (unsigned)(*digits - '0');
    if (digit >= base) return false;
    if (sum > (UINT64_MAX - digit) / base) return false;
    sum = sum * base + digit;
  }
  if (sum > max) return false;
  *value = sum;
  return true;
}

bool parse_unsigned(const char *digits, uint64_t max, uint64_t *value) { return parse_base(digits, 10, max, value); }

bool parse_octal(const char *digits, uint64_t max, uint64_t *value) { return parse_base(digits, 8, max, value); }

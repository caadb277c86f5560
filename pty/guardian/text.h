/* Bounded text: every line the guardian writes is built in a fixed buffer, without stdio and without allocation. */
#ifndef CUSTODY_TEXT_H
#define CUSTODY_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
  char *at;    /* start of the buffer; always NUL-terminated */
  size_t used; /* bytes written, without the NUL */
  size_t room; /* size of the buffer */
  bool full;   /* something did not fit: the whole text must be thrown away */
};

/* A text over a caller's array. */
#define TEXT_OVER(array) text_over((array), sizeof(array))

struct text text_over(char *buffer, size_t room);
void text_add(struct text *t, const char *piece);
void text_bytes(struct text *t, const char *bytes, size_t length);
void text_unsigned(struct text *t, uint64_t value);
void text_signed(struct text *t, int64_t value);

/* Decimal digits only, the whole string, no overflow: everything else is false. */
bool parse_unsigned(const char *digits, uint64_t max, uint64_t *value);
bool parse_octal(const char *digits, uint64_t max, uint64_t *value);

#endif

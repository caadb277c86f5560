#include "note.h"

static bool continues(unsigned char byte) { return (byte & 0xc0) == 0x80; }

/* Bytes of the well-formed character at `at`, or 0 (RFC 3629: no overlong form, no surrogate, nothing above U+10FFFF). */
static size_t character(const unsigned char *at) {
  if (at[0] < 0x80) return 1;
  if (at[0] >= 0xc2 && at[0] <= 0xdf) return continues(at[1]) ? 2 : 0;
  if (at[0] >= 0xe0 && at[0] <= 0xef) {
    if (!continues(at[1]) || !continues(at[2])) return 0;
    if (at[0] == 0xe0 && at[1] < 0xa0) return 0;
    if (at[0] == 0xed && at[1] > 0x9f) return 0;
    return 3;
  }
  if (at[0] < 0xf0 || at[0] > 0xf4 || !continues(at[1]) || !continues(at[2]) || !continues(at[3])) return 0;
  if (at[0] == 0xf0 && at[1] < 0x90) return 0;
  if (at[0] == 0xf4 && at[1] > 0x8f) return 0;
  return 4;
}

static void escaped(struct text *t, unsigned char byte) {
  static const char hex[] = "0123456789abcdef";
  const char code[] = {'\\', 'u', '0', '0', hex[byte >> 4], hex[byte & 15]};
  text_bytes(t, code, sizeof code);
}

/* Readers count what JavaScript counts: UTF-16 units, of which a character of four bytes has two. */
bool json_string(struct text *t, const char *bytes, size_t max_units) {
  size_t units = 0;
  text_add(t, "\"");
  for (const unsigned char *at = (const unsigned char *)bytes; *at != '\0';) {
    size_t length = character(at);
    units += length == 4 ? 2 : 1;
    if (length == 0 || units > max_units) return false;
    if (*at == '"' || *at == '\\') text_add(t, "\\");
    if (*at < 0x20) escaped(t, *at);
    else text_bytes(t, (const char *)at, length);
    at += length;
  }
  text_add(t, "\"");
  return true;
}

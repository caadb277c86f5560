/* SHA-256 (FIPS 180-4): recognises the executable of another guardian build, and a note that is not what was written. */
#include <string.h>
#include <unistd.h>

#include "guardian.h"

static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotated(uint32_t word, unsigned by) { return word >> by | word << (32 - by); }

static void schedule(uint32_t *w, const unsigned char *block) {
  for (int at = 0; at < 16; at++) {
    const unsigned char *b = block + 4 * at;
    w[at] = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
  }
  for (int at = 16; at < 64; at++) {
    uint32_t x = w[at - 15], y = w[at - 2];
    uint32_t low = rotated(x, 7) ^ rotated(x, 18) ^ x >> 3;
    uint32_t high = rotated(y, 17) ^ rotated(y, 19) ^ y >> 10;
    w[at] = w[at - 16] + low + w[at - 7] + high;
  }
}

static void compress(uint32_t *state, const unsigned char *block) {
  uint32_t w[64], s[8];
  schedule(w, block);
  memcpy(s, state, sizeof s);
  for (int at = 0; at < 64; at++) {
    uint32_t e = rotated(s[4], 6) ^ rotated(s[4], 11) ^ rotated(s[4], 25);
    uint32_t a = rotated(s[0], 2) ^ rotated(s[0], 13) ^ rotated(s[0], 22);
    uint32_t first = s[7] + e + ((s[4] & s[5]) ^ (~s[4] & s[6])) + constants[at] + w[at];
    uint32_t second = a + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
    memmove(s + 1, s, 7 * sizeof *s);
    s[4] += first;
    s[0] = first + second;
  }
  for (int at = 0; at < 8; at++) state[at] += s[at];
}

void digest_begin(struct digest *d) {
  static const uint32_t first[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  memcpy(d->state, first, sizeof first);
  d->total = 0;
}

void digest_add(struct digest *d, const void *bytes, size_t length) {
  const unsigned char *at = bytes;
  while (length > 0) {
    size_t have = d->total % sizeof d->block, room = sizeof d->block - have, some = length < room ? length : room;
    memcpy(d->block + have, at, some);
    d->total += some;
    at += some;
    length -= some;
    if (some == room) compress(d->state, d->block);
  }
}

/* The marker bit and the length in bits; a second block when they do not fit into the one that is begun. */
void digest_end(struct digest *d, char hex[DIGEST_HEX + 1]) {
  size_t have = d->total % sizeof d->block;
  memset(d->block + have, 0, sizeof d->block - have);
  d->block[have] = 0x80;
  if (have >= 56) {
    compress(d->state, d->block);
    memset(d->block, 0, sizeof d->block);
  }
  for (int at = 0; at < 8; at++) d->block[63 - at] = (unsigned char)(d->total * 8 >> (8 * at));
  compress(d->state, d->block);
  for (int at = 0; at < DIGEST_HEX; at++) {
    hex[at] = "0123456789abcdef"[d->state[at / 8] >> (28 - 4 * (at % 8)) & 0xf];
  }
  hex[DIGEST_HEX] = '\0';
}

bool digest_of(int fd, char hex[DIGEST_HEX + 1]) {
  struct digest digest;
  unsigned char some[4096];
  ssize_t got;
  digest_begin(&digest);
  while ((got = read(fd, some, sizeof some)) > 0) digest_add(&digest, some, (size_t)got);
  if (got < 0) return false;
  digest_end(&digest, hex);
  return true;
}

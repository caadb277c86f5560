#include <string.h>
#include <sys/mman.h>

#include "guardian.h"

enum { WAIT_MAX_MS = 24 * 3600 * 1000 };

/* Defaults of a termination that nobody parametrised: SIGTERM to the guardian itself. */
enum { DEFAULT_GRACE_MS = 500, DEFAULT_BUDGET_MS = 2000, DEFAULT_LINGER_MS = 5000 };

static bool is_name(const char *value, size_t max) {
  size_t length = strlen(value);
  if (length == 0 || length > max) return false;
  for (; *value != '\0'; value++) {
    bool word = (*value >= 'a' && *value <= 'z') || (*value >= 'A' && *value <= 'Z') || (*value >= '0' && *value <= '9');
    if (!word && *value != '-' && *value != '_') return false;
  }
  return true;
}

static bool is_hex(const char *value, size_t length) {
  return strlen(value) == length && strspn(value, "0123456789abcdef") == length;
}

/* Names are written into JSON unescaped, which is sound because is_name leaves nothing to escape. */
static bool take_name(char *to, const char *value) {
  if (!is_name(value, NAME_MAX_BYTES)) return false;
  strcpy(to, value);
  return true;
}

static bool take_path(const char **to, const char *value) {
  *to = value;
  return value[0] == '/';
}

static bool take_nonce(char *to, const char *value) {
  if (!is_hex(value, NONCE_BYTES)) return false;
  strcpy(to, value);
  return true;
}

static bool take_slot(struct slot *slot, char *value) {
  char *colon = strchr(value, ':');
  if (colon == NULL) return false;
  *colon = '\0';
  return parse_unsigned(value, UINT64_MAX, &slot->dev) && parse_unsigned(colon + 1, UINT64_MAX, &slot->ino);
}

static bool take_build(struct guardian *g, const char *value) {
  if (g->builds == KNOWN_BUILDS || !is_hex(value, DIGEST_HEX)) return false;
  strcpy(g->build[g->builds++], value);
  return true;
}

static bool take_count(struct guardian *g, const char *key, const char *value) {
  struct spec *spec = &g->spec;
  if (strcmp(key, "umask") == 0) return parse_octal(value, 0777, &spec->umask);
  if (strcmp(key, "handshakeMs") == 0) return parse_unsigned(value, WAIT_MAX_MS, &spec->handshake_ms);
  if (strcmp(key, "graceMs") == 0) return parse_unsigned(value, WAIT_MAX_MS, &spec->grace_ms);
  if (strcmp(key, "budgetMs") == 0) return parse_unsigned(value, WAIT_MAX_MS, &spec->budget_ms);
  if (strcmp(key, "lingerMs") == 0) return parse_unsigned(value, WAIT_MAX_MS, &spec->linger_ms);
  if (strcmp(key, "terminal") == 0) return parse_unsigned(value, 1, &spec->terminal) && spec->terminal == 1;
  return false;
}

static bool take_slots(struct guardian *g, const char *key, char *value) {
  if (strcmp(key, "nonceStart") == 0) return take_nonce(g->slot[SLOT_START].nonce, value);
  if (strcmp(key, "nonceStatus") == 0) return take_nonce(g->slot[SLOT_STATUS].nonce, value);
  if (strcmp(key, "nonceExit") == 0) return take_nonce(g->slot[SLOT_EXIT].nonce, value);
  if (strcmp(key, "marker") == 0) return take_nonce(g->marker_nonce, value);
  if (strcmp(key, "slotStart") == 0) return take_slot(&g->slot[SLOT_START], value);
  if (strcmp(key, "slotStatus") == 0) return take_slot(&g->slot[SLOT_STATUS], value);
  if (strcmp(key, "slotExit") == 0) return take_slot(&g->slot[SLOT_EXIT], value);
  if (strcmp(key, "slotAdopted") == 0) return take_slot(&g->slot[SLOT_ADOPTED], value);
  return take_count(g, key, value);
}

static bool take(struct guardian *g, const char *key, char *value) {
  struct spec *spec = &g->spec;
  if (strcmp(key, "arg") == 0) return (spec->argv[spec->argc++] = value) != NULL;
  if (strcmp(key, "env") == 0) return (spec->env[spec->envc++] = value) != NULL;
  if (strcmp(key, "protocol") == 0) return strcmp(value, "1") == 0;
  if (strcmp(key, "scope") == 0) return take_name(g->scope, value);
  if (strcmp(key, "installation") == 0) return take_name(g->installation, value);
  if (strcmp(key, "dir") == 0) return take_path(&spec->dir, value);
  if (strcmp(key, "cwd") == 0) return take_path(&spec->cwd, value);
  if (strcmp(key, "upSocketDir") == 0) return take_path(&spec->up, value);
  if (strcmp(key, "cgroup") == 0) return take_path(&spec->cgroup, value);
  if (strcmp(key, "knownGuardian") == 0) return take_build(g, value);
  return take_slots(g, key, value);
}

/* Room for the two pointer vectors, sized by counting, because their length is only known from the frame. */
static bool make_vectors(struct spec *spec) {
  size_t args = 0, envs = 0;
  for (char *at = spec->frame; at < spec->frame + spec->frame_bytes; at += strlen(at) + 1) {
    args += strncmp(at, "arg=", 4) == 0;
    envs += strncmp(at, "env=", 4) == 0;
  }
  size_t bytes = (args + envs + 2) * sizeof(char *);
  char **vector = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (vector == MAP_FAILED) return false;
  spec->argv = vector;
  spec->env = vector + args + 1;
  return true;
}

static const char *missing(const struct guardian *g) {
  if (g->scope[0] == '\0') return "scope";
  if (g->installation[0] == '\0') return "installation";
  if (g->spec.dir == NULL) return "dir";
  if (g->spec.cwd == NULL) return "cwd";
  if (g->spec.argc == 0) return "arg";
  if (g->spec.handshake_ms == 0) return "handshakeMs";
  if ((g->spec.terminal != 0) != (g->marker_nonce[0] != '\0')) return "marker";
  for (int name = SLOT_START; name <= SLOT_EXIT; name++) {
    if (g->slot[name].nonce[0] == '\0') return "nonce";
  }
  for (int name = SLOT_START; name <= SLOT_ADOPTED; name++) {
    if (g->slot[name].ino == 0) return "slot";
  }
  return NULL;
}

/*
 * Splits the frame in place. On failure `wrong` names what was wrong, never its value. An unknown key is an error:
 * a guardian that ignores what it does not understand would run the work under other terms than those asked for.
 */
bool spec_parse(struct guardian *g, const char **wrong) {
  struct spec *spec = &g->spec;
  bool protocol = false;
  spec->umask = 0777 + 1;
  spec->grace_ms = DEFAULT_GRACE_MS;
  spec->budget_ms = DEFAULT_BUDGET_MS;
  spec->linger_ms = DEFAULT_LINGER_MS;
  if (!make_vectors(spec)) return false;
  char *end = spec->frame + spec->frame_bytes;
  for (char *at = spec->frame; at < end;) {
    char *next = at + strlen(at) + 1;
    char *value = strchr(at, '=');
    *wrong = "key";
    if (value == NULL) return false;
    *value++ = '\0';
    protocol = protocol || strcmp(at, "protocol") == 0;
    if (!take(g, at, value)) return false;
    at = next;
  }
  spec->argv[spec->argc] = NULL;
  spec->env[spec->envc] = NULL;
  *wrong = !protocol ? "protocol" : spec->umask > 0777 ? "umask" : missing(g);
  return *wrong == NULL;
}

/**
 * How long a test waits for what has to come: longer than anything takes on a machine that is loaded to many times what it
 * can do. Whoever waits this long for a fact fails, and says which; no test is about how fast something happens.
 */
export const patienceMs = 60_000;

/** Bounds of the program itself that a loaded machine would exceed; a test that is about one of them sets its own. */
export const patientBounds = {
  CUSTODY_HANDSHAKE_MS: String(patienceMs),
  CUSTODY_RESPONSE_MS: String(patienceMs),
  CUSTODY_DRAIN_BUDGET_MS: String(patienceMs),
  CUSTODY_SHUTDOWN_BUDGET_MS: String(2 * patienceMs),
};

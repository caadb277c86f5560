/**
 * The clocks of one machine (clock_gettime(2)). A port, because deadlines must be provable without waiting: the real one
 * is in `linux/clock.ts`, tests bring one that they advance, suspend and reboot.
 */
export interface Clock {
  /** CLOCK_MONOTONIC in ms, with fractions: stands still while the machine is suspended, starts anew with every boot. */
  monoMs(): number;
  /** CLOCK_BOOTTIME in ms: also counts suspended time. Only its distance from monoMs is of interest. */
  boottimeMs(): number;
  bootId(): string;
  /** One moment in whole ms, as envelopes and rows carry it. Wall time is for people and never compared (TIME-01). */
  now(): { readonly wallMs: number; readonly monoMs: number; readonly bootId: string };
  /** Calls `wake` once, when monoMs() has reached `atMonoMs` or soon after. The function returned cancels it. */
  wakeAt(atMonoMs: number, wake: () => void): () => void;
}

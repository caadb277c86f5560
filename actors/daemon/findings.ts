/**
 * Things that people should look at and that move nothing: bounded, one per scope and code, with the time since when.
 * They live with the daemon; what they rest on is on the disk and is found again. A scope that is proved has none: what
 * comes late, such as the silence of a guardian that was just leaving, would stay for ever.
 */
import type { FindingView } from './api/views.ts';

export interface Finding {
  readonly scopeId: string;
  readonly code: string;
  readonly detail: string;
  readonly pid?: number;
}

const keptFindings = 1_000;

export class Findings {
  readonly #byKey = new Map<string, Finding & { readonly since: number }>();
  readonly #now: () => number;
  readonly #isProved: (scopeId: string) => boolean;

  /** `now` in wall milliseconds, for display. */
  constructor(now: () => number, isProved: (scopeId: string) => boolean) {
    this.#now = now;
    this.#isProved = isProved;
  }

  add(finding: Finding): void {
    const key = `${finding.scopeId} ${finding.code}`;
    if (this.#byKey.has(key) || this.#isProved(finding.scopeId)) return;
    if (this.#byKey.size >= keptFindings) this.#byKey.delete(this.#byKey.keys().next().value!);
    this.#byKey.set(key, { ...finding, since: this.#now() });
  }

  clear(scopeId: string, code: string): void {
    this.#byKey.delete(`${scopeId} ${code}`);
  }

  clearScope(scopeId: string): void {
    for (const key of [...this.#byKey.keys()]) if (key.startsWith(`${scopeId} `)) this.#byKey.delete(key);
  }

  since(scopeId: string, code: string): number | null {
    return this.#byKey.get(`${scopeId} ${code}`)?.since ?? null;
  }

  list(): readonly FindingView[] {
    return [...this.#byKey.values()].map((finding) => ({ ...finding, next: ['custody processes', 'custody doctor'] }));
  }
}

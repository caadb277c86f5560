/**
 * Sends spans to a collector, in batches and beside everything else: a collector that is slow, gone or full costs spans,
 * and never a commit, an exit or memory without bound.
 */
import type { Attributes } from '@opentelemetry/api';
import { otlpOf } from './otlp.ts';
import type { FinishedSpan } from './provider.ts';

export interface ExporterParts {
  /** Where spans are posted, such as `http://127.0.0.1:4318/v1/traces`. */
  readonly url: string;
  readonly resource: Attributes;
  /** Told when spans are lost, with how many and why; at most once for each batch. */
  readonly onLoss: (spans: number, reason: string) => void;
  /** How long `close` may take, whatever is left to send; in milliseconds. */
  readonly closeWithinMs?: number;
}

/** Spans that wait, and spans in one request. */
const waitingAtMost = 4_096;
const batchAtMost = 512;
/** How long spans gather, and how long a request may take; without the second a silent collector would be waited for. */
const gatherMs = 1_000;
const answerWithinMs = 5_000;

export class Exporter {
  readonly #parts: ExporterParts;
  readonly #waiting: FinishedSpan[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> = Promise.resolve();
  #dropped = 0;
  readonly #closing = new AbortController();

  constructor(parts: ExporterParts) {
    this.#parts = parts;
  }

  add(span: FinishedSpan): void {
    if (this.#waiting.length >= waitingAtMost) {
      this.#dropped += 1;
      return;
    }
    this.#waiting.push(span);
    this.#timer ??= setTimeout(() => this.#send(), gatherMs).unref();
  }

  /** Sends what waits; resolves when it was answered, given up or lost. */
  async close(): Promise<void> {
    const { closeWithinMs = answerWithinMs } = this.#parts;
    // Without it each batch could take as long as one may, and whoever stops would wait for all of them.
    const deadline = setTimeout(() => this.#closing.abort(), closeWithinMs);
    this.#send();
    await this.#sending;
    clearTimeout(deadline);
  }

  /** One request at a time. */
  #send(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending = this.#sending.then(async () => {
      if (this.#dropped > 0) {
        this.#parts.onLoss(this.#dropped, 'too many were waiting');
        this.#dropped = 0;
      }
      while (this.#waiting.length > 0) {
        const batch = this.#waiting.splice(0, batchAtMost);
        const lost = await this.#post(batch);
        if (lost === undefined) continue;
        // Whoever does not answer for one batch is not asked for the next ones at once.
        this.#parts.onLoss(batch.length + this.#waiting.splice(0).length, lost);
      }
    });
  }

  async #post(batch: readonly FinishedSpan[]): Promise<string | undefined> {
    const { url, resource } = this.#parts;
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(otlpOf(batch, resource)),
        // A collector that sends elsewhere could send off this machine.
        redirect: 'error',
        signal: AbortSignal.any([AbortSignal.timeout(answerWithinMs), this.#closing.signal]),
      });
      // Its status is all that counts; reading what else it says could take memory without bound.
      await response.body?.cancel();
      return response.ok ? undefined : `status ${response.status}`;
    } catch (error) {
      return (error as Error).name;
    }
  }
}

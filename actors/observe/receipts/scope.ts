import type { ReceiptKind, WorkloadOutcome } from '../../../pty/guardian/receipt.ts';
import type { ReceiptExpectation, ReceiptReading, Slot } from './expectation.ts';
import type { AuthenticReading } from './facts.ts';
import { type ReadReceiptOptions, readReceipt } from './read.ts';

/** What the rows of one scope say about its three receipts. */
export interface ScopeExpectation extends Omit<ReceiptExpectation, 'slot' | 'nonceHash' | 'start' | 'status' | 'now'> {
  readonly scopeDir: string;
  readonly slots: Readonly<Record<ReceiptKind, Slot & { readonly nonceHash: string }>>;
  /** The leader's end when an earlier daemon recorded it already; the file is then not needed any more. */
  readonly status?: WorkloadOutcome | undefined;
}

type Refused = Extract<ReceiptReading, { status: 'not_authentic' }>;

/** What one look at a scope directory newly found out. */
export interface ScopeFindings {
  readonly authentic: readonly AuthenticReading[];
  readonly refused: readonly { readonly kind: ReceiptKind; readonly reason: string }[];
  readonly directoryMissing: boolean;
}

const PUBLISHED: readonly ReceiptKind[] = ['start', 'status', 'exit'];

/** Refusals that only say that an earlier receipt was not read yet: it may have appeared between two reads of one look. */
const MISSING_PREDECESSOR: ReadonlySet<string> = new Set(['status_missing', 'identities_unknown']);

/**
 * Reads the receipts of one scope in the order in which they are published, remembers the authentic ones and checks each
 * against those before it. What was authentic once is never read again (REPL-08).
 */
export class ScopeReceipts {
  readonly #expected: ScopeExpectation;
  readonly #options: ReadReceiptOptions;
  readonly #found = new Map<ReceiptKind, AuthenticReading>();

  constructor(expected: ScopeExpectation, options: ReadReceiptOptions = {}) {
    this.#expected = expected;
    this.#options = options;
  }

  /** The exit receipt was read: there is nothing more to come. */
  get complete(): boolean {
    return this.#found.has('exit');
  }

  look(now?: ReceiptExpectation['now']): ScopeFindings {
    const authentic: AuthenticReading[] = [];
    let readings = this.#round(authentic, now);
    const early = readings.some(
      ({ reading }) => reading.status === 'not_authentic' && MISSING_PREDECESSOR.has(reading.reason),
    );
    if (early) readings = this.#round(authentic, now);
    const refused = readings.flatMap(({ kind, reading }) =>
      reading.status === 'not_authentic' ? [{ kind, reason: (reading as Refused).reason }] : [],
    );
    const directoryMissing = readings.some(
      ({ reading }) => reading.status === 'absent' && reading.missing === 'directory',
    );
    return { authentic, refused, directoryMissing };
  }

  #round(authentic: AuthenticReading[], now: ReceiptExpectation['now']) {
    const readings: { kind: ReceiptKind; reading: ReceiptReading }[] = [];
    for (const kind of PUBLISHED) {
      if (this.#found.has(kind)) continue;
      const request = { scopeDir: this.#expected.scopeDir, kind, expected: this.#expectation(kind, now) };
      const reading = readReceipt(request, this.#options);
      readings.push({ kind, reading });
      if (reading.status !== 'authentic') continue;
      this.#found.set(kind, reading);
      authentic.push(reading);
    }
    return readings;
  }

  #expectation(kind: ReceiptKind, now: ReceiptExpectation['now']): ReceiptExpectation {
    const { slots, status: recorded, scopeDir: _, ...rest } = this.#expected;
    const start = this.#found.get('start')?.receipt;
    const status = this.#found.get('status')?.receipt;
    return {
      ...rest,
      slot: slots[kind],
      nonceHash: slots[kind].nonceHash,
      start: start?.kind === 'start' ? start : undefined,
      status: status?.kind === 'status' ? status : recorded,
      now,
    };
  }
}

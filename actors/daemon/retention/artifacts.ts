/**
 * Removes the files of what is over: captured output and receipts of a scope, transcript and result of a session (RET-04,
 * CAP-03). Never before the proof: the one ownership assessment has to say `exited`, for the scope and for whatever was
 * nested in it, and the proof has to be as old as the age says. It is decided in the store first, so that a removal that
 * was interrupted is gone on with and is never taken for a loss.
 */
import { assessOwnership } from '../../../machines/assessment.ts';
import type { ScopeSnapshot } from '../../../machines/executionScope.ts';
import type { HostedEnvelope } from '../../host/outcome.ts';
import { everyActor, intact } from '../../runtime/actorAccess.ts';
import { removeBelow } from '../../runtime/removal.ts';
import type { Runtime } from '../../runtime/runtime.ts';

type Parts = Pick<Runtime, 'host' | 'store' | 'clock' | 'log' | 'places'>;
type Kind = 'executionScope' | 'ptySession';

/** Why files stay. */
export type KeptArtifacts = 'not_proved' | 'nested_not_proved' | 'session_open' | 'young' | 'damaged' | 'refused';

export interface ArtifactReport {
  readonly dryRun: boolean;
  readonly retired: { readonly scopes: number; readonly sessions: number; readonly bytes: number };
  readonly kept: Readonly<Partial<Record<KeptArtifacts, number>>>;
}

export interface RetirementOptions {
  readonly ageMs: number;
  readonly dryRun: boolean;
}

/** Actors that one step looks at. */
const actorsPerStep = 50;

export class ArtifactRetirement {
  readonly #parts: Parts;
  readonly #options: RetirementOptions;
  readonly #kinds: Kind[] = ['executionScope', 'ptySession'];
  readonly #retired = { scopes: 0, sessions: 0, bytes: 0 };
  readonly #kept: Partial<Record<KeptArtifacts, number>> = {};
  readonly #refused = new Set<number>();
  #after = 0;

  constructor(parts: Parts, options: RetirementOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  /** One bounded step: some files, or a look at some actors. False when there is nothing left to do. */
  step(): boolean {
    if (!this.#options.dryRun && this.#removeSome()) return true;
    const [kind] = this.#kinds;
    if (kind === undefined) return this.#finish();
    const found = this.#parts.store.retiredArtifacts.candidates(kind, this.#after, actorsPerStep);
    const eligible = found.filter(({ id }) => this.#mayGo(kind, id));
    this.#decide(kind, eligible);
    this.#after = found.at(-1)?.key ?? 0;
    if (found.length === 0) this.#kinds.shift();
    return true;
  }

  report(): ArtifactReport {
    const open = this.#parts.store.actors.count('executionScope', { released: false });
    const kept = open === 0 ? this.#kept : { ...this.#kept, not_proved: (this.#kept.not_proved ?? 0) + open };
    return { dryRun: this.#options.dryRun, retired: this.#retired, kept };
  }

  #finish(): false {
    const { store, clock } = this.#parts;
    const { dryRun } = this.#options;
    if (dryRun || this.#retired.scopes + this.#retired.sessions === 0) return false;
    const [{ wallMs }, position] = [clock.now(), store.journal.lastPosition()];
    store.write(() => store.retentions.insert({ wallMs, what: 'artifacts', position, report: this.report() }));
    return false;
  }

  #decide(kind: Kind, eligible: ReadonlyArray<{ readonly key: number }>): void {
    const { store, clock } = this.#parts;
    this.#retired[kind === 'executionScope' ? 'scopes' : 'sessions'] += eligible.length;
    if (this.#options.dryRun || eligible.length === 0) return;
    const { wallMs } = clock.now();
    store.write(() => {
      for (const { key } of eligible) store.retiredArtifacts.decide(key, wallMs);
    });
  }

  /** Of one actor that was decided on; false when there is none. */
  #removeSome(): boolean {
    const { store, places, log } = this.#parts;
    const next = store.retiredArtifacts.open(this.#refused.size + 1).find(({ key }) => !this.#refused.has(key));
    if (next === undefined) return false;
    try {
      let bytes = 0;
      let isDone = true;
      for (const names of this.#namesOf(next)) {
        const removed = removeBelow(places.stateDir, names);
        bytes += removed.bytes;
        isDone &&= removed.isDone;
      }
      this.#retired.bytes += bytes;
      store.write(() => store.retiredArtifacts.count(next.key, { bytes, isDone }));
    } catch (error) {
      const { code } = error as { code?: unknown };
      // Tried again in the next round; the others do not wait for it.
      this.#refused.add(next.key);
      this.#count('refused');
      log.warn({ id: next.id, code }, 'files that are not needed any more could not be removed');
    }
    return true;
  }

  /** Below the state directory; every part is a constant, an id of the store, or a digest in it. */
  #namesOf({ kind, id }: { readonly kind: string; readonly id: string }): string[][] {
    if (kind === 'executionScope') return [['scopes', id]];
    const { journal } = this.#parts.store;
    const reports = journal.page({ actor: { kind, id }, type: 'result.reported' });
    const digests = reports.flatMap((entry) =>
      entry.intact ? [String((entry.envelope as HostedEnvelope).payload.resultDigest)] : [],
    );
    return [
      ['transcripts', id],
      ['results', `${id}.schema.json`],
      ...digests.map((digest) => ['results', `${id}.${digest}.json`]),
    ];
  }

  #mayGo(kind: Kind, id: string): boolean {
    const reason = kind === 'executionScope' ? this.#whyScopeStays(id) : this.#whySessionStays(id);
    if (reason !== undefined) this.#count(reason);
    return reason === undefined;
  }

  #count(reason: KeptArtifacts): void {
    this.#kept[reason] = (this.#kept[reason] ?? 0) + 1;
  }

  #whyScopeStays(scopeId: string): KeptArtifacts | undefined {
    const { host } = this.#parts;
    const scope = intact(host, 'executionScope', scopeId);
    if (scope === undefined || scope === 'corrupt') return 'damaged';
    if (assessOwnership(scope).state !== 'exited') return 'not_proved';
    const nested = everyActor(host, 'executionScope', { link: { name: 'parentScopeId', value: scopeId } });
    for (const { snapshot } of nested) if (assessOwnership(snapshot).state !== 'exited') return 'nested_not_proved';
    const sessions = everyActor(host, 'ptySession', { settled: false, link: { name: 'scopeId', value: scopeId } });
    if (!sessions.next().done) return 'session_open';
    return this.#isOld(scope) ? undefined : 'young';
  }

  /** What a terminal said is its scope's, so the scope's proof releases it. */
  #whySessionStays(sessionId: string): KeptArtifacts | undefined {
    const session = intact(this.#parts.host, 'ptySession', sessionId);
    if (session === undefined || session === 'corrupt') return 'damaged';
    return this.#whyScopeStays(session.context.scopeId);
  }

  /** By the event that carried the proof. Where the journal cannot say when that was, it counts as new. */
  #isOld({ context: { scopeId, proof } }: ScopeSnapshot): boolean {
    const { store, clock } = this.#parts;
    const key = store.actors.keyOf({ kind: 'executionScope', id: scopeId });
    const known = key === undefined || proof === null ? undefined : store.dedup.find(proof.eventId, key);
    const row = known && store.journal.firstFrom(known.position);
    if (row === undefined || !row.intact || row.position !== known?.position) return false;
    const { at } = JSON.parse(row.envelope) as HostedEnvelope;
    return clock.now().wallMs - at.wallMs >= this.#options.ageMs;
  }
}

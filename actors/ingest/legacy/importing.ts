/**
 * Imports what another tool has on record (INT-07, INT-08, INT-09): worktrees, then runs, then which run worked where, in
 * batches, and says of each record what became of it. What is wrong with one keeps no other from going in.
 */
import { type LegacyRecord, legacyBatch } from '../../../machines/legacyRecord.ts';
import { placeMissing } from '../../../machines/run.ts';
import type { LegacyAnswer, RecordOf } from './decision.ts';
import type { LegacyRequest } from './intake.ts';
import { type Entry, isUnusable, type ListedWorktree, type Listing } from './listing.ts';
import { located } from './place.ts';
import { gapsOf } from './telling.ts';

export interface ImportedRecord {
  readonly at: string;
  readonly kind: Entry['kind'];
  readonly name: string | null;
  /**
   * Besides what an answer says: `uncertain`: there is no directory that could be told from another one, so nothing is
   * recorded; `skipped`: it was not asked for, or is nothing that anybody works in; `invalid`: it is no such record.
   */
  readonly outcome: LegacyAnswer['outcome'] | 'uncertain' | 'skipped' | 'invalid';
  readonly id: string | null;
  readonly reasons: readonly string[];
}

export interface ImportReport {
  readonly tool: string;
  readonly dryRun: boolean;
  readonly counts: Readonly<Record<ImportedRecord['outcome'], number>>;
  /** New runs: nobody can say what became of them, and they stand in the way of a seal. */
  readonly unresolved: number;
  /** How many of them miss what. */
  readonly gaps: Readonly<Record<string, number>>;
  readonly records: readonly ImportedRecord[];
}

export interface ImportRequest {
  readonly listing: Listing;
  readonly dryRun: boolean;
  /** Only worktrees of the repository with this common git directory. */
  readonly commonGitDir?: string | undefined;
  take(request: LegacyRequest): Promise<readonly LegacyAnswer[]>;
}

/** Rejects with StoreError when the store took no more; what was reported by then is committed, and may be sent again. */
export async function importListing(request: ImportRequest): Promise<ImportReport> {
  const importing = new Importing(request);
  for (const kind of ['worktree', 'run', 'binding'] as const) {
    for (const entry of request.listing.entries) if (entry.kind === kind) await importing.add(entry);
    await importing.flush();
  }
  return importing.report();
}

interface Waiting {
  readonly entry: Exclude<Entry, { problems: unknown }>;
  readonly record: LegacyRecord;
  readonly reasons: readonly string[];
}

class Importing {
  readonly #request: ImportRequest;
  readonly #done = new Map<Entry, ImportedRecord>();
  /** What stood first under each name, and what became of it. */
  readonly #first = new Map<string, { readonly digest: string; outcome: ImportedRecord['outcome'] }>();
  #waiting: Waiting[] = [];

  constructor(request: ImportRequest) {
    this.#request = request;
  }

  async add(entry: Entry): Promise<void> {
    if (isUnusable(entry)) {
      this.#settle(entry, 'invalid', { reasons: entry.problems });
      return;
    }
    const digest = entry.kind === 'worktree' ? entry.digest : entry.record.digest;
    const first = this.#first.get(keyOf(entry));
    if (first !== undefined) {
      const isSame = first.digest === digest;
      const reasons = [isSame ? 'repeated' : 'other_contents_in_this_source'];
      this.#settle(entry, isSame ? 'known' : 'conflict', { reasons });
      return;
    }
    this.#first.set(keyOf(entry), { digest, outcome: 'invalid' });
    if (entry.kind === 'worktree') this.#addWorktree(entry);
    else if (entry.kind === 'binding' && this.#isInDoubt(entry.record))
      this.#settle(entry, 'refused', { reasons: ['refers_to_a_conflict'] });
    else this.#waiting.push({ entry, record: entry.record, reasons: [] });
    if (this.#waiting.length >= legacyBatch) await this.flush();
  }

  #addWorktree(entry: ListedWorktree): void {
    const { name, digest, branch, commit, remarks = [] } = entry;
    const found = entry.isBare ? undefined : located(entry.path);
    if (found === undefined) this.#settle(entry, 'skipped', { reasons: ['bare', ...remarks] });
    else if ('doubt' in found) this.#settle(entry, 'uncertain', { reasons: [found.doubt, ...remarks] });
    else if (found.commonGitDir !== (this.#request.commonGitDir ?? found.commonGitDir))
      this.#settle(entry, 'skipped', { reasons: ['other_repository'] });
    else
      this.#waiting.push({
        entry,
        record: { kind: 'worktree', name, digest, ...found, branch, commit },
        reasons: remarks,
      });
  }

  async flush(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    if (waiting.length === 0) return;
    const { listing, dryRun, take } = this.#request;
    const answers = await take({ tool: listing.tool, records: waiting.map(({ record }) => record), dryRun });
    for (const [at, { entry, record, reasons }] of waiting.entries()) {
      const { outcome, id, reason } = this.#inContext(record, answers[at]!);
      this.#settle(entry, outcome, { id, reasons: [...(reason === undefined ? [] : [reason]), ...reasons] });
    }
  }

  /** Under one of its names something else is known than what stands here. */
  #isInDoubt({ run, worktree }: RecordOf<'binding'>): boolean {
    const outcomes = [this.#first.get(`run ${run}`)?.outcome, this.#first.get(`worktree ${worktree}`)?.outcome];
    return outcomes.includes('conflict') || outcomes.includes('refused');
  }

  /** What a binding relies on may have been left out of this very source, or, in a dry run, not be there yet. */
  #inContext(record: LegacyRecord, answer: LegacyAnswer): Pick<ImportedRecord, 'outcome' | 'id'> & { reason?: string } {
    if (record.kind !== 'binding' || answer.outcome === 'conflict') return answer;
    const run = this.#first.get(`run ${record.run}`)?.outcome;
    const worktree = this.#first.get(`worktree ${record.worktree}`)?.outcome;
    if (answer.reason !== 'unknown_run' && answer.reason !== 'unknown_worktree') return answer;
    if (worktree === 'uncertain' || worktree === 'skipped')
      return { outcome: worktree, id: null, reason: `worktree_${worktree}` };
    const areComing = [run, worktree].every((one) => one === undefined || one === 'imported' || one === 'known');
    const isNamedHere = answer.reason === 'unknown_run' ? run !== undefined : worktree !== undefined;
    return this.#request.dryRun && areComing && isNamedHere ? { outcome: 'imported', id: null } : answer;
  }

  #settle(
    entry: Entry,
    outcome: ImportedRecord['outcome'],
    { id = null, reasons }: { readonly id?: string | null; readonly reasons: readonly string[] },
  ): void {
    const { kind, at } = entry;
    const name = isUnusable(entry) ? null : entry.kind === 'worktree' ? (entry.name ?? entry.path) : entry.name;
    this.#done.set(entry, { at, kind, name, outcome, id, reasons });
    const first = isUnusable(entry) ? undefined : this.#first.get(keyOf(entry));
    if (first !== undefined && !isRepeat(reasons)) first.outcome = outcome;
  }

  report(): ImportReport {
    const { listing, dryRun } = this.#request;
    const counts = { imported: 0, known: 0, uncertain: 0, conflict: 0, refused: 0, skipped: 0, invalid: 0 };
    const records = listing.entries.flatMap((entry) => this.#done.get(entry) ?? []);
    for (const { outcome } of records) counts[outcome] += 1;
    const { unresolved, gaps } = this.#missing();
    return { tool: listing.tool, dryRun, counts, unresolved, gaps, records };
  }

  /** Of the runs that are new. */
  #missing(): Pick<ImportReport, 'unresolved' | 'gaps'> {
    const gaps: Record<string, number> = {};
    let unresolved = 0;
    for (const [entry, { outcome }] of this.#done) {
      if (isUnusable(entry) || entry.kind !== 'run' || outcome !== 'imported') continue;
      unresolved += 1;
      const isPlaced = this.#first.get(`binding ${entry.name}`)?.outcome === 'imported';
      for (const gap of gapsOf(entry.record)) if (gap !== placeMissing || !isPlaced) gaps[gap] = (gaps[gap] ?? 0) + 1;
    }
    return { unresolved, gaps };
  }
}

const isRepeat = ([reason]: readonly string[]): boolean =>
  reason === 'repeated' || reason === 'other_contents_in_this_source';

const keyOf = (entry: Waiting['entry']): string =>
  `${entry.kind} ${entry.kind === 'worktree' ? (entry.name ?? entry.path) : entry.name}`;

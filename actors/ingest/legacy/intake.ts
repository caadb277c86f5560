/**
 * Takes records of other tools in (INT-07): each is one call of the host, all of it or nothing, and its row follows. Whoever
 * is killed in between takes the same record again, which changes nothing more. A dry run decides the same and writes
 * nothing.
 */

import { canonicalJson } from '../../../machines/canonical.ts';
import type { LegacyRecord } from '../../../machines/legacyRecord.ts';
import { placeKey } from '../../../machines/worktreeGeneration.ts';
import type { LegacyName } from '../../../persistence/tables/legacyRecords.ts';
import type { Outcome } from '../../host/outcome.ts';
import { firstRefusal } from '../../runtime/submission.ts';
import { decideBinding } from './binding.ts';
import { answered, type Decision, type LegacyAnswer, type LegacyParts, type RecordOf } from './decision.ts';
import { type LegacySource, legacyRunId, legacyScopeId } from './names.ts';
import { claimOf, runDrafts } from './telling.ts';
import { decideWorktree } from './worktree.ts';

export interface LegacyRequest {
  readonly tool: string;
  readonly records: readonly LegacyRecord[];
  readonly dryRun: boolean;
}

export class LegacyIntake {
  readonly #parts: LegacyParts;

  constructor(parts: LegacyParts) {
    this.#parts = parts;
  }

  /** One answer for each, in order. Rejects with StoreError when the store took nothing, or not all: ask again then. */
  async take({ tool, records, dryRun }: LegacyRequest): Promise<readonly LegacyAnswer[]> {
    const source = { installationId: this.#parts.store.installationId, tool };
    const answers: Promise<LegacyAnswer>[] = [];
    const directories = new Set<string>();
    for (const record of records) {
      if (record.kind === 'worktree') {
        // Two names of one directory: the second one finds the generation only once it is committed.
        const key = placeKey(record.place);
        if (directories.has(key)) await Promise.all(answers);
        directories.add(key);
      }
      answers.push(this.#one(source, record, dryRun));
    }
    const settled = await Promise.all(answers);
    if (!dryRun) this.#record(source, records, settled);
    return settled;
  }

  async #one(source: LegacySource, record: LegacyRecord, dryRun: boolean): Promise<LegacyAnswer> {
    const decision = this.#decide(source, record);
    if ('answer' in decision) return decision.answer;
    const { id, drafts, remark } = decision;
    const said = remark === undefined ? {} : { reason: remark };
    if (dryRun) return { outcome: 'imported', id, ...said };
    return answerOf(id, await this.#parts.host.submit(drafts()), said);
  }

  #decide(source: LegacySource, record: LegacyRecord): Decision {
    const { store } = this.#parts;
    const name = nameOf(source, record);
    const row = name === undefined ? undefined : store.legacyRecords.find(name);
    if (row !== undefined && row.digest !== record.digest) return answered('conflict', row.actorId, 'other_contents');
    if (record.kind === 'worktree') return decideWorktree(this.#parts, source, record);
    if (row !== undefined) return answered('known', row.actorId);
    return record.kind === 'run' ? decideRun(source, record) : decideBinding(this.#parts, source, record);
  }

  /** Of what is in force: the same record is known by it, and another one under its name is not. */
  #record(source: LegacySource, records: readonly LegacyRecord[], answers: readonly LegacyAnswer[]): void {
    const { store, clock } = this.#parts;
    const { wallMs: recordedWallMs } = clock.now();
    const isInForce = ({ outcome }: LegacyAnswer) => outcome === 'imported' || outcome === 'known';
    const due = records.flatMap((record, at) => {
      const [name, answer] = [nameOf(source, record), answers[at]!];
      if (name === undefined || answer.id === null || !isInForce(answer)) return [];
      return store.legacyRecords.find(name)?.actorId === answer.id ? [] : [{ record, name, actorId: answer.id }];
    });
    if (due.length === 0) return;
    store.write(() => {
      for (const { record, name, actorId } of due) {
        const { startedWallMs = null, endedWallMs = null } = record.kind === 'run' ? record : {};
        const { digest } = record;
        store.legacyRecords.put({ ...name, digest, actorId, startedWallMs, endedWallMs, recordedWallMs });
        if (record.kind === 'run') this.#claim(record, actorId);
      }
    });
  }

  /** Only kept: whose process it is, if anybody's, a reconciliation has to see (RUN-02, ID-08). */
  #claim({ process }: RecordOf<'run'>, runId: string): void {
    const { store, adapter } = this.#parts;
    const claim = claimOf(process);
    if (claim === undefined) return;
    store.legacyRecords.claim(runId, canonicalJson(adapter.identityFrom(claim.context, claim.process)));
  }
}

function decideRun(source: LegacySource, record: RecordOf<'run'>): Decision {
  const runId = legacyRunId(source, record.name);
  const retryOf = record.retryOf === null ? null : legacyRunId(source, record.retryOf);
  const scopeId = legacyScopeId(source, record.name);
  return { id: runId, drafts: () => runDrafts(record, { runId, scopeId, retryOf, tool: source.tool }) };
}

function nameOf({ tool }: LegacySource, record: LegacyRecord): LegacyName | undefined {
  const name = record.kind === 'binding' ? record.run : record.name;
  return name === null ? undefined : { tool, kind: record.kind, name };
}

/** What the refusal of an event means in a tool's words. */
const conflicts: ReadonlySet<string> = new Set(['run.placed', 'run.reserved']);

function answerOf(id: string, outcomes: readonly Outcome[], said: Pick<LegacyAnswer, 'reason'>): LegacyAnswer {
  const refused = firstRefusal(outcomes);
  if (refused === undefined) {
    const isNew = outcomes.some(({ outcome }) => outcome === 'changed');
    return { outcome: isNew ? 'imported' : 'known', id, ...said };
  }
  const { type, reason = refused.outcome } = refused;
  const isConflict = conflicts.has(type) || reason === 'event_id_conflict';
  return { outcome: isConflict ? 'conflict' : 'refused', id, reason };
}

/** What an actor's present state rests on: the fields of its record that hold evidence, those that hold something. */
import type { ActorKind } from '../../../machines/ids.ts';
import type { EvidenceItem } from '../contract.ts';

const fields: Readonly<Record<ActorKind, readonly string[]>> = {
  goal: [
    'receipts',
    'claim',
    'failure',
    'candidate',
    'integration',
    'late',
    'openEffects',
    'finishedEffects',
    'conflict',
  ],
  run: ['end', 'exitReport', 'identity', 'lastConfirmed', 'lastObservation', 'unresolvedReason', 'gaps'],
  worktreeGeneration: ['evidence', 'noWritersContract', 'retirement', 'quarantine', 'pathObservation', 'coverageGaps'],
  executionScope: [
    'proof',
    'status',
    'guardian',
    'workload',
    'guardianLast',
    'gaps',
    'witnessConflicts',
    'assumed',
    'drain',
  ],
  ptySession: ['status', 'capture', 'firstFailure', 'faults', 'structured'],
  workerIncarnation: ['process', 'tick', 'reason'],
  recoveryFence: ['old', 'replacement', 'evidence', 'reason'],
};

export const evidenceOf = (kind: ActorKind, context: Readonly<Record<string, unknown>>): readonly EvidenceItem[] =>
  fields[kind].flatMap((name) => {
    const value = context[name];
    const isEmpty = value === null || value === undefined || (Array.isArray(value) && value.length === 0);
    return isEmpty ? [] : [{ name, value }];
  });

/** What people call the kinds of actors, and the order in which they look for them. */
import type { ActorRow } from '../../server/contract.ts';

export type Kind = ActorRow['kind'];

interface KindWords {
  readonly one: string;
  readonly many: string;
  /** Two letters for where there is no room. */
  readonly short: string;
}

export const kinds: Readonly<Record<Kind, KindWords>> = {
  goal: { one: 'Goal', many: 'Goals', short: 'GO' },
  run: { one: 'Run', many: 'Runs', short: 'RU' },
  worktreeGeneration: { one: 'Worktree', many: 'Worktrees', short: 'WT' },
  ptySession: { one: 'Session', many: 'Sessions', short: 'TE' },
  executionScope: { one: 'Scope', many: 'Scopes', short: 'SC' },
  workerIncarnation: { one: 'Worker', many: 'Workers', short: 'WK' },
  recoveryFence: { one: 'Fence', many: 'Fence', short: 'FE' },
};

export const kindOrder = Object.keys(kinds) as readonly Kind[];

export const isKind = (text: string): text is Kind => Object.hasOwn(kinds, text);

export const kindWord = (kind: string): string => (isKind(kind) ? kinds[kind].one : kind);

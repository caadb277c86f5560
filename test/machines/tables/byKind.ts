/** The table of each chart, by the kind of its actors. */
import type { ActorKind } from '../../../machines/ids.ts';
import type { Table } from '../support/table.ts';
import { executionScopeTable } from './executionScope.ts';
import { goalTable } from './goal.ts';
import { ptySessionTable } from './ptySession.ts';
import { recoveryFenceTable } from './recoveryFence.ts';
import { runTable } from './run.ts';
import { workerIncarnationTable } from './workerIncarnation.ts';
import { worktreeGenerationTable } from './worktreeGeneration.ts';

export const tables: Readonly<Record<ActorKind, Table>> = {
  goal: goalTable,
  run: runTable,
  worktreeGeneration: worktreeGenerationTable,
  executionScope: executionScopeTable,
  ptySession: ptySessionTable,
  workerIncarnation: workerIncarnationTable,
  recoveryFence: recoveryFenceTable,
};

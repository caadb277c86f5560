/** Every durable chart of this program by the kind of its actors. */
import type { ActorDefinition } from './definition.ts';
import { executionScopeDefinition } from './executionScope.ts';
import { goalDefinition } from './goal.ts';
import type { ActorKind } from './ids.ts';
import { ptySessionDefinition } from './ptySession.ts';
import { recoveryFenceDefinition } from './recoveryFence.ts';
import { runDefinition } from './run.ts';
import { workerIncarnationDefinition } from './workerIncarnation.ts';
import { worktreeGenerationDefinition } from './worktreeGeneration.ts';

export const definitions: Readonly<Record<ActorKind, ActorDefinition>> = {
  goal: goalDefinition,
  run: runDefinition,
  worktreeGeneration: worktreeGenerationDefinition,
  executionScope: executionScopeDefinition,
  ptySession: ptySessionDefinition,
  workerIncarnation: workerIncarnationDefinition,
  recoveryFence: recoveryFenceDefinition,
};

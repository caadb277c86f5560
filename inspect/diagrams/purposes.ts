/** What each machine is for, as its page begins. */
import type { ActorKind } from '../../machines/ids.ts';

export const purposes: Readonly<Record<ActorKind, string>> = {
  goal: 'One thing that somebody wants done: how far it has come, whether its result is integrated, and whether all nodes agree on it.',
  run: 'One job of a worker: from the intent to launch it until its recorded process is known to be gone.',
  worktreeGeneration:
    'One physical worktree: who may work in it, who could write there, and whether that is provably nobody.',
  executionScope:
    'One process tree under one guardian: what is proved about it, how its root ended, and how far an ordered end has come.',
  ptySession:
    'One terminal with an agent in it: how the agent ended, whether its output is complete, and what its tree does.',
  workerIncarnation: 'One start of the scheduling worker: whether it is who was launched, and whether it ticks.',
  recoveryFence: 'The order in which workers of one runtime are replaced: never beside one that may be alive.',
};

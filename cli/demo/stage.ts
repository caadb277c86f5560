/** What every chapter of the demonstration works with, and what it hands to the next. */
import type { RunView } from '../../actors/daemon/api/views.ts';
import type { Installation } from './installation.ts';
import type { Interruption } from './interruption.ts';
import type { Narrator } from './narrator.ts';
import type { Scratch } from './scratch.ts';
import type { Audience } from './viewer.ts';

export interface Stage {
  readonly scratch: Scratch;
  readonly installation: Installation;
  readonly narrator: Narrator;
  readonly interruption: Interruption;
  readonly audience: Audience;
  /** The environment that the caller had. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The Goal and where its work is done. */
export interface Workplace {
  readonly goalId: string;
  readonly generationId: string;
  readonly path: string;
}

/** A run of ours with the two processes that the launch recorded. */
export interface Launched {
  readonly run: RunView;
  readonly scopeId: string;
  readonly guardianPid: number;
  readonly workloadPid: number;
}

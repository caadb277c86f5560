/** What is worked out beside the daemon's own loop, because it takes as long as it takes: drawings, and what has to read a recording. */
import type { ActorKind } from '../../../machines/ids.ts';
import type { PlacedChart } from '../../diagrams/placed.ts';
import type { ScreenAnswer } from '../contract.ts';

export interface ScreenAt extends Omit<ScreenAnswer, 'sessionId'> {
  readonly base64: string;
}

export type Instant = { readonly offset: number } | { readonly timeMs: number };

export type Work =
  | { readonly do: 'chart'; readonly kind: ActorKind }
  | { readonly do: 'screen'; readonly dir: string; readonly at: Instant }
  | { readonly do: 'duration'; readonly dir: string }
  /** The next piece for one of those who read recordings; it has to be known unless it is the first. */
  | { readonly do: 'recording'; readonly dir: string; readonly reader: number; readonly isFirst: boolean }
  | { readonly do: 'recordingClosed'; readonly reader: number };

export interface Results {
  readonly chart: PlacedChart;
  /** Undefined where nothing can be read. */
  readonly screen: ScreenAt | undefined;
  /** Milliseconds. */
  readonly duration: number;
  /** Undefined behind the last. */
  readonly recording: Uint8Array | undefined;
  readonly recordingClosed: undefined;
}

export type ToThread =
  | (Work & { readonly id: number })
  /** Nobody waits for that any more: it may end early, with whatever it has. */
  | { readonly abandon: number };

export type FromThread =
  | { readonly id: number; readonly result: Results[Work['do']] }
  | { readonly id: number; readonly failure: string };

/** What is worked out beside the daemon's own loop, because it takes as long as it takes: drawings, and screens of the past. */
import type { ActorKind } from '../../../machines/ids.ts';
import type { PlacedChart } from '../../diagrams/placed.ts';

export interface ScreenAt {
  readonly offset: number;
  /** When the last byte of it came; null before the first. */
  readonly timeMs: number | null;
  readonly cols: number;
  readonly rows: number;
  readonly lines: readonly string[];
  readonly cursor: { readonly x: number; readonly y: number; readonly visible: boolean };
  readonly title: string;
  readonly base64: string;
}

export type Instant = { readonly offset: number } | { readonly timeMs: number };

export type Work =
  | { readonly do: 'chart'; readonly kind: ActorKind }
  | { readonly do: 'screen'; readonly dir: string; readonly at: Instant };

export interface Results {
  readonly chart: PlacedChart;
  /** Undefined where nothing can be read. */
  readonly screen: ScreenAt | undefined;
}

export type ToThread = Work & { readonly id: number };

export type FromThread =
  | { readonly id: number; readonly result: Results[Work['do']] }
  | { readonly id: number; readonly failure: string };

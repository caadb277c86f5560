/** What the thread of the screens and whoever started it say to each other. Bytes of output are never among it. */

export interface ScreenPlace {
  readonly dir: string;
  readonly segmentBytes: number;
  /** The size at the start of the session; later ones are in its index. */
  readonly cols: number;
  readonly rows: number;
  readonly historyRows: number;
  /** How much is rendered before another checkpoint is due. */
  readonly checkpointBytes: number;
}

export interface ScreenSnapshot {
  /** Everything before it is in the picture; who paints it goes on with the byte at it. */
  readonly offset: number;
  readonly cols: number;
  readonly rows: number;
  /** From the top left corner of the screen, counted from 0. */
  readonly cursor: { readonly x: number; readonly y: number; readonly visible: boolean };
  /** The rows of the screen as text, without trailing blanks. */
  readonly lines: readonly string[];
  readonly altScreen: boolean;
  readonly title?: string;
  /** Bytes that were lost before `offset`: with any, the screen may not be what the program meant. */
  readonly lostBytes: number;
  /** For a freshly reset terminal of the same size; the history and all modes included. */
  readonly repaint: Uint8Array;
}

/** A regular expression goes by its source, so that it is only ever run where it can be stopped. */
export type ScreenPattern = { readonly text: string } | { readonly regex: string; readonly flags?: string };

export type ScreenFailure =
  /** The transcript cannot be read, or what was asked for is not in it. */
  | 'screen_unreadable'
  | 'pattern_invalid'
  /** The pattern took so long on one screen that it would hold up every session. */
  | 'pattern_too_slow';

/** Which of the program's questions are answered here: those between two offsets; without a second one all that follow. */
export interface Answered {
  readonly from: number;
  readonly until: number | null;
}

export type ToWorker =
  | {
      readonly type: 'open';
      readonly session: string;
      readonly place: ScreenPlace;
      readonly target: number;
      readonly answered: Answered | null;
    }
  | { readonly type: 'advance'; readonly targets: readonly (readonly [session: string, target: number])[] }
  | { readonly type: 'answered'; readonly session: string; readonly answered: Answered | null }
  /** Nothing has come for a while: keep what was rendered, let the files go. */
  | { readonly type: 'rest'; readonly sessions: readonly string[] }
  | {
      readonly type: 'snapshot';
      readonly id: number;
      readonly session: string;
      readonly atLeast: number;
      readonly historyRows: number | null;
    }
  | {
      readonly type: 'wait';
      readonly id: number;
      readonly session: string;
      readonly pattern: ScreenPattern;
      readonly atLeast: number;
    }
  | { readonly type: 'cancel'; readonly id: number; readonly session: string }
  | { readonly type: 'close'; readonly session: string };

export type FromWorker =
  | { readonly type: 'snapshot'; readonly id: number; readonly snapshot: ScreenSnapshot }
  | { readonly type: 'matched'; readonly id: number; readonly match: ScreenMatch }
  | { readonly type: 'failed'; readonly id: number; readonly code: ScreenFailure; readonly detail: string }
  /** The question lies before `offset`, and behind the last offset where rendering had to stop. */
  | { readonly type: 'reply'; readonly session: string; readonly offset: number; readonly bytes: string };

export interface ScreenMatch {
  /** How far the screen had been rendered when it matched. */
  readonly offset: number;
  /** What matched. */
  readonly text: string;
}

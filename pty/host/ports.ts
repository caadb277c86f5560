/** What a session needs of the screens, which are parsed in a thread of their own. */
import type { Size } from './master.ts';

/** The screen as a person would see it once the output up to `offset` has arrived. */
export interface ScreenView extends Size {
  readonly offset: number;
  readonly cursor: { readonly x: number; readonly y: number; readonly visible: boolean };
  /** Rows as text, without trailing blanks. */
  readonly lines: readonly string[];
  readonly altScreen: boolean;
  readonly title: string;
  /** Bytes that were lost before `offset`; with any, the screen may not be what the program meant. */
  readonly lostBytes: number;
  /** Base64 of what brings a freshly reset terminal of this size into the same state, modes and history included. */
  readonly repaint: string;
  readonly modes: { readonly bracketedPaste: boolean; readonly applicationCursor: boolean };
}

export interface SessionScreens {
  open(sessionId: string, place: { readonly dir: string; readonly segmentBytes: number }, size: Size): void;
  /** There is output, or a new size, up to `toOffset` in the transcript. */
  advance(sessionId: string, toOffset: number): void;
  /** Whether the program's questions are answered here from `at` on, because nobody is there whose terminal would. */
  answer(sessionId: string, isAnswering: boolean, at: number): void;
  close(sessionId: string): void;
  /** Rejects when no screen can be had; never waits for ever. */
  snapshot(sessionId: string, atLeastOffset: number): Promise<ScreenView>;
  /** False when it did not come to pass in time. Rejects for a pattern that cannot be used. */
  waitFor(
    sessionId: string,
    pattern: { readonly text: string } | { readonly regex: string },
    withinMs: number,
  ): Promise<boolean>;
}

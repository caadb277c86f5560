/** What a session needs of the screens, which are parsed in a thread of their own. */
import type { Size } from './master.ts';

/** The screen as a person would see it once the output up to `offset` has arrived. */
export interface ScreenView extends Size {
  readonly offset: number;
  /** Escape sequences that bring a fresh terminal of this size into the same state. */
  readonly repaint: string;
  readonly modes: { readonly bracketedPaste: boolean };
}

export interface SessionScreens {
  open(sessionId: string, dir: string, size: Size): void;
  /** There is output up to `toOffset` in the transcript. */
  advance(sessionId: string, toOffset: number): void;
  close(sessionId: string): void;
  /** Rejects when no screen can be had; never waits for ever. */
  snapshot(sessionId: string, atLeastOffset: number): Promise<ScreenView>;
  /** Undefined when it did not come to pass in time. */
  waitFor(
    sessionId: string,
    condition: { readonly text: string } | { readonly regex: string },
    withinMs: number,
  ): Promise<ScreenView | undefined>;
}

import type { ScreenFailure } from './protocol.ts';

export type ScreenErrorCode =
  | ScreenFailure
  | 'screen_unknown'
  | 'screen_closed'
  /** No answer within the time that the caller gave it. */
  | 'screen_late'
  /** The thread died of this request, or of others, more often than it is worth trying. */
  | 'screen_thread_lost';

const nextSteps: Readonly<Record<ScreenErrorCode, string>> = {
  screen_unreadable: 'look at the findings of the transcript',
  pattern_invalid: 'correct the regular expression',
  pattern_too_slow: 'use a plainer expression, or a text',
  screen_unknown: 'open the session first',
  screen_closed: 'the session was closed; read its transcript',
  screen_late:
    'ask again, or read the transcript: the machine is busy or the session writes faster than it can be rendered',
  screen_thread_lost: 'read the transcript; a report of the output that does this is welcome',
};

/** A question about a screen that got no screen for an answer. */
export class ScreenError extends Error {
  readonly code: ScreenErrorCode;
  /** The message without its code. */
  readonly detail: string | undefined;
  readonly next: readonly string[];

  constructor(code: ScreenErrorCode, detail?: string) {
    super(detail === undefined ? code : `${code}: ${detail}`);
    this.name = 'ScreenError';
    this.code = code;
    this.detail = detail;
    this.next = [nextSteps[code]];
  }
}

/** The screens of a host, as its sessions ask for them. */
import { ScreenError } from '../screen/errors.ts';
import type { Screens } from '../screen/screens.ts';
import { HostError } from '../wire/hostError.ts';
import type { ScreenView, SessionScreens } from './ports.ts';

/** DECSET 2004 and 1 (DECCKM), as a repaint sets them again. */
const bracketedPaste = Buffer.from('\x1b[?2004h');
const applicationCursor = Buffer.from('\x1b[?1h');

/** A late screen is better than none for somebody who attaches in the middle of a flood. */
const snapshotMs = 30_000;

export function renderedScreens(screens: Screens): SessionScreens {
  return {
    open: (sessionId, place, size) => screens.open(sessionId, { ...place, ...size }),
    advance: (sessionId, toOffset) => screens.advance(sessionId, toOffset),
    answer: (sessionId, isAnswering, at) => screens.answer(sessionId, isAnswering, at),
    close: (sessionId) => screens.close(sessionId),
    snapshot: (sessionId, atLeast) => asked(() => snapshot(screens, sessionId, atLeast)),
    waitFor: (sessionId, pattern, timeoutMs) =>
      asked(async () => (await screens.waitFor(sessionId, pattern, { timeoutMs })).matched),
  };
}

async function snapshot(screens: Screens, sessionId: string, atLeast: number): Promise<ScreenView> {
  const { repaint, title = '', ...screen } = await screens.snapshot(sessionId, { atLeast, timeoutMs: snapshotMs });
  const bytes = Buffer.from(repaint.buffer, repaint.byteOffset, repaint.byteLength);
  const modes = {
    bracketedPaste: bytes.includes(bracketedPaste),
    applicationCursor: bytes.includes(applicationCursor),
  };
  return { ...screen, title, repaint: bytes.toString('base64'), modes };
}

async function asked<T>(question: () => Promise<T>): Promise<T> {
  try {
    return await question();
  } catch (error) {
    if (!(error instanceof ScreenError)) throw error;
    const isPattern = error.code === 'pattern_invalid' || error.code === 'pattern_too_slow';
    throw isPattern
      ? new HostError(error.code, error.detail ?? error.message)
      : new HostError('screen_unavailable', error.message);
  }
}

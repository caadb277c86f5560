/** sessions screen: what a person would see, of a session that lives or of one that is over. */
import type { ScreenTextView } from '../../actors/daemon/api/views.ts';
import { HostError } from '../../pty/wire/hostError.ts';
import { type Invocation, localAnswer } from '../invocation.ts';
import { screenLines } from '../print/sessions.ts';
import { connectToHost, type FoundSession, findSession, fromHost } from '../sessionClient.ts';
import { storedScreen } from './storedScreen.ts';

export interface ScreenFlags {
  readonly cursor?: boolean;
}

export async function screen(invocation: Invocation, flags: ScreenFlags, typed: string): Promise<number> {
  const view = await shown(invocation, typed);
  return invocation.output.answer(localAnswer('sessions.screen', view), (data, style) =>
    screenLines(data, { style, isWithCursor: flags.cursor ?? false }),
  );
}

async function shown({ places }: Invocation, typed: string): Promise<ScreenTextView> {
  const host = await connectToHost(places);
  try {
    const found = findSession(places, typed, host?.sessions ?? []);
    const { sessionId } = found;
    if (host === undefined || found.report === undefined) return await rendered(found);
    const answer = (await host.client.ask({ do: 'screen', sessionId }, answerMs)) as ScreenTextView;
    const { offset, cols, rows, lines, cursor, title = '' } = answer;
    return { sessionId, offset, cols, rows, lines, cursor, title };
  } catch (error) {
    throw error instanceof HostError ? fromHost(error, typed) : error;
  } finally {
    host?.client.close();
  }
}

/** Output that nobody has looked at yet has to be rendered first. */
const answerMs = 30_000;

async function rendered(found: FoundSession): Promise<ScreenTextView> {
  const { offset, cols, rows, lines, cursor, title = '' } = await storedScreen(found);
  return { sessionId: found.sessionId, offset, cols, rows, lines, cursor, title };
}

/** A terminal session: what is committed of it, and what its holder and its recording say. */

import type { InspectedDaemon } from '../../../actors/daemon/inspector/port.ts';
import { intact } from '../../../actors/runtime/actorAccess.ts';
import { notHere } from '../access/refusal.ts';
import type { ScreenAnswer, TerminalAnswer } from '../contract.ts';
import { leafPaths } from '../fleet/paths.ts';
import type { Beside } from '../thread/beside.ts';
import type { Instant } from '../thread/protocol.ts';
import { directoryOf, isRecorded } from './recording.ts';

/** Throws `not_found`. */
export async function terminalAnswer(
  daemon: InspectedDaemon,
  beside: Beside,
  { id, signal }: { readonly id: string; readonly signal: AbortSignal },
): Promise<TerminalAnswer> {
  const session = intact(daemon.host, 'ptySession', id);
  if (session === undefined || session === 'corrupt') throw notHere(`session ${id}`);
  const { data } = await daemon.call('sessions.show', { id }, signal);
  const { sessionId, runId, scopeId, goalId, label, cols, rows, bytes, missing, hostSocket } = data;
  const recorded = await isRecorded(daemon, id);
  const dir = directoryOf(daemon, id);
  const durationMs = recorded ? await beside.work<'duration'>({ do: 'duration', dir }, signal) : null;
  const state = leafPaths(session.value);
  const known = { sessionId, runId, scopeId, goalId, label, cols, rows, bytes, missing };
  return { ...known, state, live: hostSocket !== null, recorded, durationMs };
}

/** What a person would have seen then. Throws a Refusal where nothing was kept. */
export async function screenAnswer(
  daemon: InspectedDaemon,
  beside: Beside,
  { id, at, signal }: { readonly id: string; readonly at: Instant; readonly signal: AbortSignal },
): Promise<ScreenAnswer> {
  const isThere = await isRecorded(daemon, id);
  const dir = directoryOf(daemon, id);
  const screen = isThere ? await beside.work<'screen'>({ do: 'screen', dir, at }, signal) : undefined;
  if (screen === undefined) throw notHere(`recording of ${id}`);
  return { sessionId: id, ...screen };
}

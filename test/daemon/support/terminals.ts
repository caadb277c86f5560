/** Terminal sessions of a daemon, for tests that are about what becomes of them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestDaemon } from '../../support/daemon.ts';
import { type Named, startReceipt } from '../../support/daemonLeftovers.ts';
import { patienceMs } from '../../support/patience.ts';

export const size = { cols: 80, rows: 24 };

export interface Opened {
  readonly goalId: string;
  readonly runId: string;
  readonly sessionId: string;
  readonly scopeId: string;
}

/** A session of a Goal of its own, or of one that is there. */
export async function opened(
  daemon: TestDaemon,
  script: string,
  {
    goal,
    terminal,
    ...options
  }: { readonly goal?: string; readonly terminal?: object; readonly timeoutMs?: number } = {},
): Promise<Opened> {
  const goalId = goal ?? (await daemon.goal()).goalId;
  const asked = { ...options, terminal: { ...size, ...terminal } };
  const { runId, sessionId, scopeId } = await daemon.exec(goalId, script, asked);
  return { goalId, runId, sessionId: sessionId!, scopeId: scopeId! };
}

export const over = (daemon: TestDaemon, id: string) =>
  daemon.call('sessions.wait', { id, until: { kind: 'exit' }, waitMs: patienceMs });

export const shows = (daemon: TestDaemon, id: string, text: string) =>
  daemon.call('sessions.wait', { id, until: { kind: 'text', text }, waitMs: patienceMs });

export const typed = (daemon: TestDaemon, id: string, text: string) =>
  daemon.call('sessions.send', { id, bytes: Buffer.from(text).toString('base64'), enter: true });

export const transcriptOf = (daemon: TestDaemon, sessionId: string): string =>
  join(daemon.inside(daemon.home.stateDir), 'transcripts', sessionId);

export const recorded = (daemon: TestDaemon, sessionId: string): string =>
  readFileSync(join(transcriptOf(daemon, sessionId), 'raw.000001'), 'utf8');

export const runFile = (daemon: TestDaemon, name: string): string =>
  join(daemon.inside(daemon.home.stateDir), 'run', name);

export function ptyHostOf(daemon: TestDaemon): Named {
  const record = JSON.parse(readFileSync(runFile(daemon, 'pty-host.json'), 'utf8'));
  return { pid: record.pid, start: record.processToken };
}

export const guardianOf = (daemon: TestDaemon, scopeId: string): Named =>
  startReceipt(daemon.scopeDir(scopeId))!.guardian;

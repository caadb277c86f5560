/** Terminal sessions of a Goal, through the daemon. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type TestDaemon, testDaemon } from '../support/daemon.ts';

const terminal = { cols: 80, rows: 24 };

async function opened(daemon: TestDaemon, script: string, options: object = {}) {
  const { goalId } = await daemon.goal();
  const run = await daemon.exec(goalId, script, { terminal: { ...terminal, ...options } });
  return { goalId, runId: run.runId, sessionId: run.sessionId!, scopeId: run.scopeId! };
}

const recorded = (daemon: TestDaemon, sessionId: string): string =>
  readFileSync(join(daemon.home.stateDir, 'transcripts', sessionId, 'raw.000001'), 'utf8');

describe('a session', () => {
  it('runs its command in a terminal, and ends as three facts: workload, capture, scope (PTY-01)', async () => {
    const daemon = await testDaemon().start();
    const { sessionId, runId } = await opened(daemon, 'tty -s && echo interactive; exit 7');
    const session = await daemon.call('sessions.wait', { id: sessionId, until: { kind: 'exit' }, waitMs: 30_000 });
    expect(session).toMatchObject({ workload: 'final', capture: 'complete', result: { how: 'exited', code: 7 } });
    expect(recorded(daemon, sessionId)).toBe('interactive\r\n');
    expect(await daemon.proved(runId)).toMatchObject({ result: { code: 7 } });
    expect(await daemon.call('sessions.show', { id: sessionId })).toMatchObject({ scope: 'proved', missing: null });
  });
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type TestDaemon, testDaemon } from '../support/daemon.ts';
import { signalVerified } from '../support/daemonLeftovers.ts';

const terminals = async (daemon: TestDaemon) =>
  (await daemon.call('doctor', {})).checks.find(({ id }) => id === 'terminals');

it('doctor names the process that holds terminals, also one that does not answer (ruling 20)', async () => {
  const daemon = await testDaemon().start();
  expect(await terminals(daemon)).toMatchObject({ ok: true, detail: 'no process holds terminals' });
  const { goalId } = await daemon.goal();
  await daemon.exec(goalId, 'exec cat', { terminal: { cols: 80, rows: 24 } });
  const { pid, processToken: start } = JSON.parse(
    readFileSync(join(daemon.home.stateDir, 'run', 'pty-host.json'), 'utf8'),
  );
  expect(await terminals(daemon)).toMatchObject({ ok: true, detail: `pid ${pid} holds 1 terminal` });
  signalVerified({ pid, start }, 'SIGSTOP');
  try {
    expect(await terminals(daemon)).toMatchObject({
      severity: 'warning',
      detail: expect.stringContaining(`pid ${pid}`),
    });
  } finally {
    signalVerified({ pid, start }, 'SIGCONT');
  }
});

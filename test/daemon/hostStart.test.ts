/** A holder of terminals that hangs before it listens, or will not go, holds up nobody for ever. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { HostLink } from '../../actors/daemon/terminals/hostLink.ts';
import { startHost } from '../../actors/daemon/terminals/hostProcess.ts';
import { createSystemClock } from '../../actors/observe/linux/clock.ts';
import { probeExistence } from '../../actors/observe/linux/probe.ts';
import { selectAdapter } from '../../actors/observe/select.ts';
import { placesOf } from '../../actors/runtime/places.ts';
import { isGone } from '../guardian/support/processes.ts';
import { workDirectory } from '../guardian/support/scope.ts';
import { answeringHost } from '../ptyHost/support/answeringHost.ts';

it('a host that says nothing is ended when its time is up, and is named', async () => {
  const stateDir = workDirectory();
  const program = join(stateDir, 'hangs.mjs');
  const pidFile = join(stateDir, 'pid');
  writeFileSync(
    program,
    `
    import { writeFileSync } from 'node:fs';
    writeFileSync(${JSON.stringify(pidFile)}, String(process.pid));
    setInterval(() => {}, 1_000);
  `,
  );
  const places = placesOf({ stateDir, env: {} });
  mkdirSync(places.runDir);
  const parts = { places, ptyHost: { program, limits: {}, startMs: 3_000 }, workGroup: {} } as Parameters<
    typeof startHost
  >[0];
  await expect(startHost(parts)).rejects.toMatchObject({
    code: 'pty_host_failed',
    message: expect.stringContaining('did not listen within 3000 ms'),
  });
  await isGone(Number(readFileSync(pidFile, 'utf8')));
});

it('a host that says that it goes and stays is waited for within a bound', async () => {
  const stateDir = workDirectory();
  const places = placesOf({ stateDir, env: {} });
  mkdirSync(places.runDir);
  const data = { protocol: 2, pid: process.pid, version: 'test', sessions: [] };
  await answeringHost({ address: places.ptyHostSocket, data });
  const adapter = selectAdapter(process.platform, { installationId: 'test' as never, probe: probeExistence });
  const link = new HostLink({ places, adapter, clock: createSystemClock(), log: pino({ enabled: false }) } as never);
  const client = await link.open();
  onTestFinished(() => client.close());
  await client.ask({ do: 'leave' });
  await expect(link.left(200)).rejects.toMatchObject({ code: 'unresponsive' });
});

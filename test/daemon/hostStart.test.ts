/** A holder of terminals that hangs before it listens is ended, and holds up nobody for ever. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startHost } from '../../actors/daemon/terminals/hostProcess.ts';
import { placesOf } from '../../actors/runtime/places.ts';
import { isGone } from '../guardian/support/processes.ts';
import { workDirectory } from '../guardian/support/scope.ts';

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
  const parts = { places, ptyHost: { program, limits: {}, startMs: 3_000 } } as Parameters<typeof startHost>[0];
  await expect(startHost(parts)).rejects.toMatchObject({
    code: 'pty_host_failed',
    message: expect.stringContaining('did not listen within 3000 ms'),
  });
  await isGone(Number(readFileSync(pidFile, 'utf8')));
});

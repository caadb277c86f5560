/** What this command line says to a daemon of an earlier version: it has to be able to replace it (ruling 21). */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { directoryOf, placesOf } from '../../actors/runtime/places.ts';
import { type FaultyDaemon, faultyDaemon, head } from './support/faultyDaemon.ts';
import { type Installation, installation, refused } from './support/installation.ts';

const stopped = { stopped: true, settled: [], blocked: [] };

/** What a daemon of version 0.0.9 shows of itself. */
const shown = {
  health: { state: 'ok', reasons: [], next: [] },
  capacity: { used: 0, limit: 8, scopeIds: [] },
  admission: 'open',
  counts: { goals: {}, runs: { active: 0, unresolved: 0 }, worktrees: {}, scopes: { live: 0, unverified: 0 } },
  coverageClass: 'guarded',
  daemon: { pid: 1, version: '0.0.9', startNumber: 1, uptimeMs: 1, adopted: 0 },
};

/** Announces a daemon that knows neither `service` nor the arguments that came with it, and answers one stop. */
async function older(here: Installation, data: object = stopped): Promise<{ daemon: FaultyDaemon; announced: string }> {
  const places = placesOf({ stateDir: here.stateDir, env: {} });
  const daemon = await faultyDaemon((connection) => {
    const asked = daemon.requests.at(-1)!;
    const hello = { protocol: 1, version: '0.0.9', pid: process.pid, startNumber: 1, stateDir: here.stateDir };
    const answer = { ok: true, command: '', data, warnings: [], journalPosition: 1, exitCode: 0 };
    const body = JSON.stringify(asked.startsWith('GET /v1/hello') ? hello : answer);
    if (asked.includes('daemon.stop')) rmSync(places.rendezvousFile);
    connection.end(head(body.length) + body);
  });
  onTestFinished(() => daemon.close());
  const directory = directoryOf(places);
  const { stateDir } = here;
  const announced = { protocol: 1, pid: process.pid, socket: daemon.socket, version: '0.0.9', startNumber: 1 };
  mkdirSync(places.runDir, { recursive: true });
  writeFileSync(places.rendezvousFile, JSON.stringify({ ...announced, stateDir, directory }));
  return { daemon, announced: places.rendezvousFile };
}

/** The arguments of the last request; its body may be in the same chunk or not said at all. */
const argumentsOf = ({ requests }: FaultyDaemon): unknown =>
  JSON.parse(requests.find((request) => request.startsWith('POST'))!.split('\r\n\r\n')[1]!);

it('a restart that keeps the work asks an earlier daemon for nothing that it does not know', async () => {
  const here = await installation();
  onTestFinished(() => here.dispose());
  await here.ask(['daemon', 'start']);
  await here.ask(['daemon', 'stop']);
  const { daemon } = await older(here);
  const { pid, started } = (await here.ask(['daemon', 'restart', '--keep-work'])).data;
  expect({ started, isOther: pid !== process.pid }).toEqual({ started: true, isOther: true });
  expect(Object.keys(argumentsOf(daemon) as object)).toEqual(expect.arrayContaining(['keepWork']));
  expect(argumentsOf(daemon)).not.toHaveProperty('verb');
});

it('one that has to know a service manager is refused with what to do instead', async () => {
  const here = await installation();
  onTestFinished(() => here.dispose());
  await here.ask(['daemon', 'start']);
  await here.ask(['daemon', 'stop']);
  const { announced } = await older(here);
  expect(refused(await here.custody(['daemon', 'stop', '--via', 'service', '--json']))).toMatchObject({
    code: 'no_service',
    exitCode: 8,
    next: ['custody daemon restart --keep-work'],
  });
  rmSync(announced);
});

it('shows what an earlier daemon says of itself, and nothing that it does not', async () => {
  const here = await installation();
  onTestFinished(() => here.dispose());
  await here.ask(['daemon', 'start']);
  await here.ask(['daemon', 'stop']);
  const { announced } = await older(here, shown);
  const { code, stdout, stderr } = await here.custody(['status']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('version 0.0.9');
  expect(stdout).not.toMatch(/lifecycle|worker/);
  rmSync(announced);
});

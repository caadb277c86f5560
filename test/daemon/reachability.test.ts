import { mkdtempSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { placesOf, readRendezvous } from '../../actors/runtime/places.ts';
import { type TestDaemon, testDaemon } from '../support/daemon.ts';
import { eventually } from '../support/eventually.ts';

const placesFor = ({ home }: TestDaemon) => placesOf({ stateDir: home.stateDir, env: {} });
const answering = (daemon: TestDaemon) =>
  eventually('an answer at the announced address', () => daemon.client.hello().catch(() => undefined));

describe('a daemon whose way in is taken away', () => {
  it.each(['the socket', 'the rendezvous', 'both', 'the whole directory'])(
    'makes %s anew, and what follows it goes on',
    async (what) => {
      const daemon = await testDaemon().start();
      const places = placesFor(daemon);
      const { socket } = readRendezvous(places)!;
      const following = daemon.event({ type: 'goal.created' });
      if (what !== 'the rendezvous') rmSync(socket);
      if (what !== 'the socket') rmSync(places.rendezvousFile);
      // In one step: the containment check of a new daemon still works in there.
      if (what === 'the whole directory') renameSync(places.runDir, join(daemon.home.dir, 'taken'));
      expect(await answering(daemon)).toMatchObject({ pid: daemon.pid });
      await daemon.goal();
      await following;
      expect(await daemon.kill('SIGTERM')).toMatchObject({ code: 0 });
      expect(readRendezvous(places)).toBeUndefined();
    },
  );

  it('announces itself again where somebody else wrote', async () => {
    const daemon = await testDaemon().start();
    const { rendezvousFile } = placesFor(daemon);
    const announced = readFileSync(rendezvousFile, 'utf8');
    writeFileSync(rendezvousFile, announced.replace('"pid":', '"pid":1'));
    await eventually('the announcement', () => readFileSync(rendezvousFile, 'utf8') === announced || undefined);
  });

  it('leaves a shared name to whoever took it, and is found at a name of its own', async () => {
    const runtimeDir = realpathSync(mkdtempSync(join(tmpdir(), 'custody-runtime-')));
    onTestFinished(() => rmSync(runtimeDir, { recursive: true }));
    const daemon = await testDaemon({ env: { XDG_RUNTIME_DIR: runtimeDir } }).start();
    const { socket } = readRendezvous(placesFor(daemon))!;
    expect(socket.startsWith(runtimeDir)).toBe(true);
    rmSync(socket);
    writeFileSync(socket, 'another');
    expect(await answering(daemon)).toMatchObject({ pid: daemon.pid });
    expect(readRendezvous(placesFor(daemon))!.socket).toBe(join(placesFor(daemon).runDir, 'api.sock'));
  });
});

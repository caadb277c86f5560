import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createLinuxAdapter } from '../../actors/observe/linux/adapter.ts';
import { probeExistence } from '../../actors/observe/linux/probe.ts';
import { installationIdSchema } from '../../machines/ids.ts';
import { type PuppetState, startPuppeteer } from './support/puppet.ts';
import {
  asNobodyInside,
  inPidNamespace,
  inTimeNamespace,
  isRoot,
  type Remote,
  withForeignProc,
} from './support/remote.ts';
import { openWorkshop, type Workshop } from './support/workshop.ts';

let workshop: Workshop;
const open: { close(): Promise<void> }[] = [];

function closing<T extends { close(): Promise<void> }>(resource: T): T {
  open.push(resource);
  return resource;
}

beforeAll(() => {
  workshop = openWorkshop();
});
afterAll(() => workshop.close());
afterEach(async () => {
  for (const resource of open.splice(0).reverse()) await resource.close();
});

/** Everything happens in private namespaces with a procfs mounted there; the host's own mount is never touched. */
describe('Linux namespaces', () => {
  const here = createLinuxAdapter({ installationId: installationIdSchema.parse('Itest'), probe: probeExistence });

  it('ID-06: a record from another PID namespace is unknown on either side', async () => {
    const puppeteer = closing(startPuppeteer(workshop.puppeteer));
    const outside = here.capture((await puppeteer.do('spawn')).pid);
    const remote = closing(inPidNamespace(workshop.driver));
    expect(await remote.observe(outside)).toMatchObject({ result: 'unknown', reason: 'namespace_mismatch' });

    await remote.puppeteer(workshop.puppeteer);
    const inside = await remote.capture((await remote.puppet('spawn')).pid);
    expect(await remote.observe(inside)).toMatchObject({ result: 'alive', reason: 'running' });
    expect(here.observe(inside)).toMatchObject({ result: 'unknown', reason: 'namespace_mismatch' });
  });

  it('case 51, OBS-05: with the procfs of another PID namespace nothing is believed, absence least of all', async () => {
    const remote = closing(withForeignProc(workshop.driver));
    expect(await remote.context()).toMatchObject({ problem: 'foreign_proc' });
    const puppeteer = closing(startPuppeteer(workshop.puppeteer));
    const child = await puppeteer.do('spawn');
    const identity = here.capture(child.pid);
    expect(await remote.observe(identity)).toMatchObject({ result: 'unknown', reason: 'foreign_proc' });
    await puppeteer.do('kill');
    await puppeteer.do('reap');
    expect(await remote.observe(identity)).toMatchObject({ result: 'unknown', reason: 'foreign_proc' });
  });

  it('case 52, ID-06: under a shifted boot clock start ticks do not compare', async () => {
    const puppeteer = closing(startPuppeteer(workshop.puppeteer));
    const child = await puppeteer.do('spawn');
    const identity = here.capture(child.pid);
    const remote = closing(inTimeNamespace(workshop.driver));
    const shifted = await remote.capture(child.pid);
    expect(shifted.processToken).not.toBe(identity.processToken);
    expect(await remote.observe(identity)).toMatchObject({ result: 'unknown', reason: 'namespace_mismatch' });
  });

  it('case 43: two processes in one tick: ticks alone are called weak, the pidfd tells them apart', async () => {
    const remote = closing(inPidNamespace(workshop.driver));
    const holder = await remote.puppeteer(workshop.puppeteer);
    const { first, second } = await remote.sameTick(300);
    expect([second.pid, second.start]).toEqual([first.pid, first.start]);
    const identity = await remote.identity(first);

    expect(await remote.observe(identity)).toMatchObject({ result: 'alive', strength: 'ticks' });
    expect(await remote.observeThrough(identity, holder)).toMatchObject({
      result: 'ended',
      reason: 'replaced',
      strength: 'pidfd',
    });
    expect(await remote.observeThrough(await remote.identity(second), holder)).toMatchObject({
      result: 'alive',
      strength: 'pidfd',
    });
  });

  it('case 43: where pids run out within a tick, ticks alone permit no signal', async () => {
    const remote = closing(inPidNamespace(workshop.driver));
    const holder = await remote.puppeteer(workshop.puppeteer);
    const child = await remote.puppet('spawn');
    const identity = await remote.identity(child);
    await remote.pidMax(400);
    expect(await remote.observe(identity)).toMatchObject({
      result: 'alive',
      reason: 'identity_weak',
      signalable: false,
    });
    expect(await remote.observeThrough(identity, holder)).toMatchObject({ reason: 'running', signalable: true });
    expect(await remote.pin(identity)).toBe(true);
    expect(await remote.observe(identity)).toMatchObject({ reason: 'running', signalable: true, strength: 'pinned' });
  });

  it('case 54: a pinned descriptor never shows the process that took the pid over', async () => {
    const remote = closing(inPidNamespace(workshop.driver));
    await remote.puppeteer(workshop.puppeteer);
    const identity = await remote.identity(await remote.puppet('spawnat 300'));
    expect(await remote.pin(identity)).toBe(true);
    await remote.puppet('kill');
    await remote.puppet('reap');
    const second = await remote.puppet('spawnat 300');
    expect(second.pid).toBe(identity.pid);
    expect(await remote.observe(identity)).toMatchObject({ result: 'ended', reason: 'absent', strength: 'pinned' });
    expect(await remote.observe(await remote.identity(second))).toMatchObject({ result: 'alive' });
  });

  it('case 42: a pid that was taken over in a later tick is a replacement', async () => {
    const remote = closing(inPidNamespace(workshop.driver));
    await remote.puppeteer(workshop.puppeteer);
    const first = await remote.puppet('spawnat 300');
    const identity = await remote.identity(first);
    let second = first;
    while (second.start === first.start) {
      await remote.puppet('kill');
      await remote.puppet('reap');
      second = await remote.puppet('spawnat 300');
    }
    expect(await remote.observe(identity)).toMatchObject({ result: 'ended', reason: 'replaced' });
  });
});

/** A user without privileges looks at own and foreign, dumpable and non-dumpable processes through each kind of mount. */
const NOBODY = 65534;
const ALIVE = { result: 'alive', reason: 'running' };
const GONE = { result: 'ended', reason: 'absent' };
const HIDDEN = { result: 'unknown', reason: 'proc_hidden' };
const FORBIDDEN = { result: 'unknown', reason: 'permission' };
/** hidepid=4 hides at the first look-up and forbids once somebody else has looked; which one, depends on the others. */
const UNSEEN = { result: 'unknown', reason: expect.stringMatching(/^(permission|proc_hidden)$/) };

interface Concealment {
  readonly hidepid: string;
  readonly whose: 'own' | 'foreign';
  readonly dumpable: 0 | 1;
  readonly living: object;
  readonly gone: object;
  /** Without kill(2) as the second witness. */
  readonly goneUnwitnessed: object;
}

function concealment(hidepid: string, rows: readonly [object, object, object][]): Concealment[] {
  return rows.map(([living, gone, goneUnwitnessed], index) => ({
    hidepid,
    whose: index < 2 ? 'own' : 'foreign',
    dumpable: index % 2 === 0 ? 1 : 0,
    living,
    gone,
    goneUnwitnessed,
  }));
}

/** Rows: own dumpable, own non-dumpable, foreign dumpable, foreign non-dumpable. */
const concealments = [
  ...concealment('0', [
    [ALIVE, GONE, GONE],
    [ALIVE, GONE, GONE],
    [ALIVE, GONE, GONE],
    [ALIVE, GONE, GONE],
  ]),
  ...concealment('1', [
    [ALIVE, GONE, GONE],
    [FORBIDDEN, GONE, GONE],
    [FORBIDDEN, GONE, GONE],
    [FORBIDDEN, GONE, GONE],
  ]),
  ...concealment('2', [
    [ALIVE, GONE, HIDDEN],
    [HIDDEN, GONE, HIDDEN],
    [HIDDEN, HIDDEN, HIDDEN],
    [HIDDEN, HIDDEN, HIDDEN],
  ]),
  ...concealment('4', [
    [ALIVE, GONE, HIDDEN],
    [UNSEEN, GONE, HIDDEN],
    [UNSEEN, HIDDEN, HIDDEN],
    [UNSEEN, HIDDEN, HIDDEN],
  ]),
];

async function concealed(
  hidepid: string,
  uid: number,
  dumpable: number,
): Promise<{ inside: Remote; observer: Remote; child: PuppetState }> {
  const inside = closing(inPidNamespace(workshop.driver, hidepid));
  await inside.puppeteer(workshop.puppeteer);
  await inside.puppet('spawn');
  await inside.puppet(`uid ${uid}`);
  const child = await inside.puppet(`dumpable ${dumpable}`);
  return { inside, child, observer: closing(asNobodyInside(inside.insidePid(), workshop.driver)) };
}

// Two users are needed, and only root can be two.
if (isRoot) {
  describe('what procfs may hide from an ordinary user', () => {
    it.each(concealments)(
      'case 45, OBS-05: hidepid=$hidepid, $whose process, dumpable $dumpable',
      async ({ hidepid, whose, dumpable, living, gone, goneUnwitnessed }) => {
        const uid = whose === 'own' ? NOBODY : 65533;
        const { inside, observer, child } = await concealed(hidepid, uid, dumpable);
        const identity = await inside.identity(child, uid);
        expect(await observer.observe(identity)).toMatchObject(living);
        expect((await observer.observeWithoutProbe(identity)).result).not.toBe('ended');
        await inside.puppet('kill');
        await inside.puppet('reap');
        expect(await observer.observe(identity)).toMatchObject(gone);
        expect(await observer.observeWithoutProbe(identity)).toMatchObject(goneUnwitnessed);
      },
    );

    it('case 45: root sees through every mount, so its absence counts', async () => {
      const { inside } = await concealed('2', NOBODY, 0);
      const identity = await inside.identity(await inside.puppet('stop'), NOBODY);
      expect(await inside.context()).toMatchObject({ hidePid: 'invisible', seesAll: true });
      expect(await inside.observe(identity)).toMatchObject({ result: 'alive', reason: 'stopped' });
      await inside.puppet('kill');
      await inside.puppet('reap');
      expect(await inside.observe(identity)).toMatchObject(GONE);
    });
  });
}

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLinuxAdapter, type LinuxAdapter } from '../../actors/observe/linux/adapter.ts';
import { probeExistence } from '../../actors/observe/linux/probe.ts';
import { observationSchema, processIdentitySchema } from '../../machines/identity.ts';
import { installationIdSchema } from '../../machines/ids.ts';
import { type Puppeteer, startPuppeteer } from './support/puppet.ts';
import { isRoot } from './support/remote.ts';
import { openWorkshop, type Workshop } from './support/workshop.ts';

const installationId = installationIdSchema.parse('Itest');

/** Real children of a helper that answers only when the condition in question has been reached. */
describe('Linux processes in every condition', () => {
  let workshop: Workshop;
  let puppeteer: Puppeteer;
  let adapter: LinuxAdapter;

  beforeAll(() => {
    workshop = openWorkshop();
  });
  afterAll(() => workshop.close());
  beforeEach(() => {
    puppeteer = startPuppeteer(workshop.puppeteer);
    adapter = createLinuxAdapter({ installationId, probe: probeExistence });
  });
  afterEach(async () => {
    adapter.close();
    await puppeteer.close();
  });

  it('case 38, ID-01: a living process is alive under a record and an observation that match their schemas', async () => {
    const child = await puppeteer.do('spawn');
    const identity = adapter.capture(child.pid, child.pidfs);
    expect(processIdentitySchema.parse(identity)).toEqual(identity);
    expect(identity).toMatchObject({ pid: child.pid, processToken: child.start, uid: process.getuid!() });

    const { strength, ...observation } = adapter.observe(identity);
    expect(observationSchema.parse(observation)).toEqual(observation);
    expect(observation).toMatchObject({ result: 'alive', reason: 'running', signalable: true });
    expect(strength).toBe('ticks');
  });

  it('case 38: a stopped process is alive and says so', async () => {
    const child = await puppeteer.do('spawn');
    const identity = adapter.capture(child.pid);
    await puppeteer.do('stop');
    expect(adapter.observe(identity)).toMatchObject({ result: 'alive', reason: 'stopped', signalable: true });
    await puppeteer.do('cont');
    expect(adapter.observe(identity)).toMatchObject({ result: 'alive', reason: 'running' });
  });

  it('cases 39 and 41, OBS-03, OBS-06: an unreaped zombie is defunct, a reaped one absent', async () => {
    const child = await puppeteer.do('spawn');
    const identity = adapter.capture(child.pid);
    await puppeteer.do('kill');
    expect(adapter.observe(identity)).toMatchObject({ result: 'ended', reason: 'defunct', signalable: false });
    expect(() => adapter.capture(child.pid)).toThrow(
      expect.objectContaining({ code: 'process_gone', reason: 'defunct' }),
    );
    await puppeteer.do('reap');
    expect(adapter.observe(identity)).toMatchObject({ result: 'ended', reason: 'absent' });
    expect(() => adapter.capture(child.pid)).toThrow(
      expect.objectContaining({ code: 'process_gone', reason: 'absent' }),
    );
  });

  it('case 40, OBS-06: a leader that exited while a thread runs on is alive', async () => {
    const child = await puppeteer.do('spawn');
    const identity = adapter.capture(child.pid);
    await puppeteer.do('leaderexit');
    expect(adapter.observe(identity)).toMatchObject({ result: 'alive', reason: 'leader_zombie', signalable: true });
    await puppeteer.do('kill');
    expect(adapter.observe(identity)).toMatchObject({ result: 'ended', reason: 'defunct' });
  });

  it.each([
    ['a) R 1 1', 'parenthesis and a state'],
    ['x\ny) Z 0', 'a line feed and a zombie'],
    [') ) )', 'nothing but parentheses'],
    ['\xff\xfe)(', 'bytes that are no UTF-8'],
    ['\nUid:\t7\t', 'a forged line of status'],
  ])('case 49: the name %j (%s) does not move the fields', async (name) => {
    const child = await puppeteer.do('spawn');
    const identity = adapter.capture(child.pid);
    await puppeteer.do(`name ${Buffer.from(name, 'latin1').toString('hex')}`);
    expect(adapter.observe(identity)).toMatchObject({ result: 'alive', reason: 'running' });
    expect(adapter.capture(child.pid)).toEqual(identity);
  });

  it('case 42, ID-06: another start time under the same pid is a replacement', async () => {
    const child = await puppeteer.do('spawn');
    const identity = adapter.capture(child.pid);
    const earlier = { ...identity, processToken: String(BigInt(identity.processToken) - 1n) };
    expect(adapter.observe(earlier)).toMatchObject({ result: 'ended', reason: 'replaced' });
  });

  it('case 53: a process that changed its user is alive and must not be signalled', async () => {
    const child = await puppeteer.do('spawn');
    const captured = adapter.capture(child.pid);
    // An ordinary user cannot change: then the record names the other user.
    const identity = isRoot ? captured : { ...captured, uid: captured.uid + 1 };
    if (isRoot) await puppeteer.do('uid 65534');
    expect(adapter.observe(identity)).toMatchObject({ result: 'alive', reason: 'uid_changed', signalable: false });
  });

  it('case 54: a pinned process is seen through its own descriptors and is gone for good once reaped', async () => {
    const child = await puppeteer.do('spawn');
    const identity = adapter.capture(child.pid);
    expect(adapter.pin(identity)).toBe(true);
    const before = adapter.reads;
    expect(adapter.observe(identity)).toMatchObject({ result: 'alive', reason: 'running', strength: 'pinned' });
    expect(adapter.reads - before).toBeLessThanOrEqual(12);
    await puppeteer.do('kill');
    expect(adapter.observe(identity)).toMatchObject({ result: 'ended', reason: 'defunct', strength: 'pinned' });
    await puppeteer.do('reap');
    expect(adapter.observe(identity)).toMatchObject({ result: 'ended', reason: 'absent', strength: 'pinned' });
    expect(adapter.pinned).toBe(0);
    expect(adapter.pin(identity)).toBe(false);
  });

  it('case 54: pins are bounded, and whoever leaves makes room', async () => {
    const others = [startPuppeteer(workshop.puppeteer), startPuppeteer(workshop.puppeteer)];
    const small = createLinuxAdapter({ installationId, probe: probeExistence, pinLimit: 2 });
    try {
      const identities = [];
      for (const one of [puppeteer, ...others]) identities.push(small.capture((await one.do('spawn')).pid));
      const [first, second, third] = identities as [
        (typeof identities)[0],
        (typeof identities)[0],
        (typeof identities)[0],
      ];
      expect([small.pin(first), small.pin(second)]).toEqual([true, true]);
      expect(small.pin(third)).toBe(false);
      expect(identities.map((identity) => small.observe(identity).strength)).toEqual(['pinned', 'pinned', 'ticks']);
      small.unpin(second);
      expect(small.pin(third)).toBe(true);
      expect(identities.map((identity) => small.observe(identity).strength)).toEqual(['pinned', 'ticks', 'pinned']);
    } finally {
      small.close();
      for (const one of others) await one.close();
    }
  });

  it('case 43: a pidfd that somebody else holds names the process beyond its ticks', async () => {
    const child = await puppeteer.do('spawn');
    const identity = adapter.capture(child.pid, child.pidfs);
    const holder = adapter.holderOf(identity, puppeteer.pid);
    expect(holder).toEqual({ pid: puppeteer.pid, fd: child.fd });
    expect(adapter.observe(identity, holder)).toMatchObject({ result: 'alive', reason: 'running', strength: 'pidfd' });
    await puppeteer.do('kill');
    expect(adapter.observe(identity, holder)).toMatchObject({ result: 'ended', reason: 'defunct', strength: 'pidfd' });
    await puppeteer.do('reap');
    expect(adapter.observe(identity, holder)).toMatchObject({ result: 'ended', reason: 'absent', strength: 'pidfd' });
    expect(adapter.holderOf({ ...identity, adapterEvidence: '1' }, puppeteer.pid)).toBeUndefined();
  });

  it('OBS-07: readiness of a pidfd is not needed: every answer above is the same by path', async () => {
    const child = await puppeteer.do('spawn');
    const identity = adapter.capture(child.pid, child.pidfs);
    const holder = adapter.holderOf(identity, puppeteer.pid);
    const both = () => [adapter.observe(identity).reason, adapter.observe(identity, holder).reason];
    expect(both()).toEqual(['running', 'running']);
    await puppeteer.do('kill');
    expect(both()).toEqual(['defunct', 'defunct']);
    await puppeteer.do('reap');
    expect(both()).toEqual(['absent', 'absent']);
  });
});

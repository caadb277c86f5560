/** Guardians and terminals outlive a control-group kill of the daemon, where they can have a group of their own. */
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createWorkGroup, ownGroup } from '../../actors/daemon/launch/workGroup.ts';
import { isGone } from '../guardian/support/processes.ts';
import { controlGroup, groupOf, killGroup, removeGroup } from '../support/controlGroups.ts';
import { TestDaemon, testDaemon } from '../support/daemon.ts';
import { daemonHome, type HomeOptions } from '../support/daemonHome.ts';
import { isSame, startReceipt } from '../support/daemonLeftovers.ts';
import { eventually } from '../support/eventually.ts';
import { stubborn } from './support/stubborn.ts';
import { opened, ptyHostOf, shows, typed } from './support/terminals.ts';

const workGroupOf = async (daemon: TestDaemon): Promise<string> =>
  (await daemon.call('doctor', {})).checks.find(({ id }) => id === 'workGroup')!.detail;

/** A daemon in a group of its own, below one that holds nobody else, as a service manager makes them. */
async function inGroup(around: string, options: HomeOptions = {}): Promise<{ daemon: TestDaemon; group: string }> {
  const group = join(around, 'daemon.service');
  onTestFinished(async () => {
    killGroup(around);
    await eventually('an empty group', () => removeGroup(around) || undefined);
  });
  mkdirSync(group);
  const prefix = ['sh', '-c', `echo $$ > "${group}/cgroup.procs"; exec "$@"`, 'sh'];
  const daemon = new TestDaemon(daemonHome(options), { prefix });
  onTestFinished(() => daemon.dispose());
  return { daemon: await daemon.start(), group };
}

const name = () => `custody-test-${randomUUID()}`;

describe('a control-group kill of the daemon', () => {
  it('reaches neither guardians nor terminals nor work, which the next daemon adopts and can prove', async () => {
    const around = controlGroup(name());
    // Where groups cannot be made, nothing is promised, and that is said.
    if (around === undefined) return expect(await workGroupOf(await testDaemon().start())).toContain('shares');
    const { daemon, group } = await inGroup(around);
    const one = await stubborn(daemon, 'one');
    const session = await opened(daemon, 'echo ready; while read line; do echo "heard $line"; done');
    await shows(daemon, session.sessionId, 'ready');
    const { guardian, workload } = startReceipt(daemon.scopeDir(one.scopeId))!;
    const inTerminal = startReceipt(daemon.scopeDir(session.scopeId))!;
    const host = ptyHostOf(daemon);
    const others = [guardian, workload, inTerminal.guardian, inTerminal.workload, host];
    expect(groupOf(daemon.pid)).toBe(`/${basename(around)}/daemon.service`);
    const own = groupOf(guardian.pid);
    // The workload of a guardian that was told of the group has a part of it for itself.
    expect(others.map(({ pid }) => groupOf(pid))).toEqual([
      own,
      `${own}/${one.scopeId}`,
      own,
      `${own}/${session.scopeId}`,
      own,
    ]);
    expect(own).toMatch(new RegExp(`^/${basename(around)}/custody-[^/]+$`));
    expect(await workGroupOf(daemon)).toContain(own);

    killGroup(group);
    expect(await daemon.process.exited).toEqual({ code: null, signal: 'SIGKILL' });
    expect(others.filter((process) => !isSame(process))).toEqual([]);
    await daemon.start();
    expect(await daemon.scope(one.scopeId)).toMatchObject({ assessment: { state: 'live' } });
    await typed(daemon, session.sessionId, 'you');
    await shows(daemon, session.sessionId, 'heard you');
    const stopped = await daemon.call('daemon.stop', {});
    expect([...stopped.settled].sort()).toEqual([one.scopeId, session.scopeId].sort());
    await daemon.process.exited;
    // Nobody is left in it, so it is gone as well.
    expect(removeGroup(group)).toBe(true);
    expect(removeGroup(around)).toBe(true);
    mkdirSync(around);
  });

  it('takes them along where the group is turned off; nothing is believed without a receipt', async () => {
    const around = controlGroup(name());
    if (around === undefined) return expect(await workGroupOf(await testDaemon().start())).toContain('shares');
    const { daemon, group } = await inGroup(around, { env: { CUSTODY_WORK_GROUP: 'none' } });
    const { scopeId } = await stubborn(daemon, 'one');
    const { guardian, workload } = startReceipt(daemon.scopeDir(scopeId))!;
    expect(groupOf(guardian.pid)).toBe(groupOf(daemon.pid));
    expect(await workGroupOf(daemon)).toContain('it is turned off');
    killGroup(group);
    await daemon.process.exited;
    for (const { pid } of [guardian, workload]) await isGone(pid);
    await daemon.start();
    await daemon.event({ actor: scopeId, type: 'guardian.observed' }, ({ payload }) => payload.result === 'absent');
    expect(await daemon.scope(scopeId)).toMatchObject({ assessment: { state: 'unverified', certainty: 'gap' } });
  });
});

describe('the group beside the one of this process', () => {
  const mount = (root: string, point: string, type = 'cgroup2') =>
    `41 31 0:38 ${root} ${point} rw,relatime shared:9 - ${type} cgroup2 rw`;
  it.each([
    {
      what: 'a unit',
      cgroup: '0::/user.slice/app.slice/a.service',
      mounts: [mount('/', '/sys/fs/cgroup')],
      directory: '/sys/fs/cgroup/user.slice/app.slice/a.service',
    },
    {
      what: 'besides version 1',
      cgroup: '8:pids:/x\n0::/y/z\n',
      mounts: [mount('/', '/v1', 'cgroup'), mount('/', '/c g'.replace(' ', '\\040'))],
      directory: '/c g/y/z',
    },
    { what: 'a part that is mounted', cgroup: '0::/a/b/c', mounts: [mount('/a', '/m')], directory: '/m/b/c' },
    { what: 'the root of it', cgroup: '0::/', mounts: [mount('/', '/sys/fs/cgroup')], directory: undefined },
    { what: 'outside of what is mounted', cgroup: '0::/other/x', mounts: [mount('/a', '/m')], directory: undefined },
    { what: 'of another namespace', cgroup: '0::/../x', mounts: [mount('/', '/m')], directory: undefined },
    { what: 'without version 2', cgroup: '8:pids:/x', mounts: [mount('/', '/v1', 'cgroup')], directory: undefined },
  ])('$what', ({ cgroup, mounts, directory }) => {
    expect(ownGroup({ cgroup, mountinfo: `${mounts.join('\n')}\n` })).toBe(directory);
  });

  it('is none where it is turned off', () => {
    expect(createWorkGroup('I1', 'none')).toMatchObject({ directory: undefined });
  });
});

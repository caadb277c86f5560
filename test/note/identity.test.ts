import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readlinkSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLinuxAdapter } from '../../actors/observe/linux/adapter.ts';
import { identityFromGuardian } from '../../actors/observe/linux/identity.ts';
import { installationIdSchema } from '../../machines/ids.ts';
import type { Note } from '../../machines/note.ts';
import { type Puppeteer, startPuppeteer } from '../observe/support/puppet.ts';
import { openWorkshop, type Workshop } from '../observe/support/workshop.ts';
import { client, clientBuiltWith, type Launcher, launcher, patient, stopped } from './support/client.ts';

const installationId = installationIdSchema.parse('Itest');
const adapter = createLinuxAdapter({ installationId });

let workshop: Workshop;
let puppeteer: Puppeteer;
beforeAll(() => {
  workshop = openWorkshop();
  puppeteer = startPuppeteer(workshop.puppeteer);
});
afterAll(async () => {
  await puppeteer.close();
  workshop.close();
  adapter.close();
});

type Bind = Extract<Note, { type: 'run.bind' }>;
const boundBy = (own: Launcher): Bind => own.notes().at(-1) as Bind;

/** The record that whoever takes the note in makes of it, by the one function that also reads a guardian's words. */
const recorded = ({ process: { uid, pidns, timens, ...evidence }, at: { bootId } }: Bind) =>
  identityFromGuardian({ installationId, bootId, pidns, timens, uid }, evidence);

it('identifies a process in exactly the words in which the observers would (ID-07)', async () => {
  const child = await puppeteer.do('spawn');
  const own = launcher();
  own.note(['bind', 'r', '--pid', String(child.pid)]);
  const noted = recorded(boundBy(own));
  // The puppeteer holds a pidfd, so the number that only a pidfd tells can be compared as well.
  expect(noted).toEqual(adapter.capture(child.pid, child.pidfs));
  expect(adapter.observe(noted)).toMatchObject({ result: 'alive', signalable: true });
  expect(boundBy(own).process.pidns).toBe(/\d+/.exec(readlinkSync('/proc/self/ns/pid'))![0]);
});

it('knows no number of a pidfd on a kernel that has none', () => {
  const own = launcher();
  own.note(['bind', 'r', '--pid', String(process.pid)], { program: clientBuiltWith('WITHOUT_PIDFD') });
  expect(recorded(boundBy(own))).toEqual(adapter.capture(process.pid));
});

it('names the real user, not the effective one', () => {
  const own = launcher();
  const asOther = process.getuid!() === 0 ? ['setpriv', '--ruid', '65534', '--clear-groups', '--'] : [];
  const script = `echo $$; read line`;
  const [program = 'sh', ...args] = [...asOther, 'sh', '-c', script];
  const other = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  return once(other.stdout, 'data').then(() => {
    own.note(['bind', 'r', '--pid', String(other.pid)]);
    expect(recorded(boundBy(own))).toMatchObject({ uid: adapter.capture(other.pid!).uid });
    expect(boundBy(own).process.uid).toBe(process.getuid!() === 0 ? 65_534 : process.getuid!());
    other.stdin.end();
  });
});

it('invents nobody: a pid without a process, a dead one and a thread are no run, and the loss shows (ID-08)', async () => {
  const own = launcher();
  const child = await puppeteer.do('spawn');
  await puppeteer.do('kill');
  const threads = execFileSync('sh', ['-c', `ls /proc/${process.pid}/task`], { encoding: 'utf8' })
    .trim()
    .split('\n');
  const thread = threads.find((id) => Number(id) !== process.pid)!;
  for (const pid of ['2147483647', String(child.pid), thread]) {
    const { code, stderr } = own.note(['bind', 'r', '--pid', pid]);
    expect({ pid, code }).toEqual({ pid, code: 0 });
    expect(stderr).toMatch(/this note is lost: the process is not there/);
  }
  own.note(['exit', 'r', '--code', '0']);
  expect(own.taken()).toMatchObject({ notes: [{ seq: 4 }], lost: [{ from: 1, to: 3, why: 'missing' }] });
});

it.each([
  ['by its descriptor', clientBuiltWith('TEST_STEPS')],
  ['by a second look where there are no descriptors of processes', clientBuiltWith('TEST_STEPS', 'WITHOUT_PIDFD')],
])('refuses a process that ends while it is looked at, %s', async (_, program) => {
  const own = launcher();
  const child = spawn('sh', ['-c', 'echo on; read line'], { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(child.stdout!, 'data');
  const words = ['bind', 'r', '--pid', String(child.pid), patient];
  const caller = spawn(program, words, {
    env: { ...own.env, CUSTODY_TEST_STEP: 'stop:looked' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const worker = await stopped(caller.pid!);
  child.stdin!.end();
  await once(child, 'exit');
  process.kill(worker, 'SIGCONT');
  const [, stderr] = await Promise.all([once(caller, 'close'), text(caller.stderr)]);
  expect(stderr).toMatch(/the process is not there/);
  expect(own.taken()).toMatchObject({ notes: [], unsettled: 1 });
});

it('speaks in the terms of the namespace that it is called in, and of no other', () => {
  const own = launcher();
  const inside = `'${client()}' bind r ${patient}; cat /proc/self/ns/pid >/dev/null 2>&1; readlink /proc/self/ns/pid; echo $$`;
  const unshare = [...(process.getuid!() === 0 ? [] : ['-Ur']), '--pid', '--fork', '--mount-proc', 'sh', '-c', inside];
  const [namespace, pid] = execFileSync('unshare', unshare, { env: own.env, encoding: 'utf8' }).trim().split('\n');
  expect(boundBy(own).process).toMatchObject({ pid: Number(pid), pidns: /\d+/.exec(namespace!)![0] });
});

it('says nothing where /proc belongs to another PID namespace: pids would be somebody else’s (ID-06)', () => {
  const own = launcher();
  const unshare = [...(process.getuid!() === 0 ? [] : ['-Ur']), '--pid', '--fork', client(), 'bind', 'r', patient];
  const { status, stderr } = spawnSync('unshare', unshare, { env: own.env, encoding: 'utf8' });
  expect(status).toBe(0);
  expect(stderr).toMatch(/this note is lost: \/proc is not usable here/);
  expect(own.taken()).toMatchObject({ notes: [], unsettled: 1 });
});

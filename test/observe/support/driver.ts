/**
 * The adapter as a program of its own, so that a test can run it inside other namespaces or as another user. One request
 * per line, `[operation, ...arguments]`; one answer per line, `{ value }` or `{ error }`.
 */
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { createLinuxAdapter } from '../../../actors/observe/linux/adapter.ts';
import { isProblem } from '../../../actors/observe/linux/context.ts';
import { type GuardianEvidence, identityFromGuardian } from '../../../actors/observe/linux/identity.ts';
import { probeExistence } from '../../../actors/observe/linux/probe.ts';
import type { ProcessIdentity } from '../../../machines/identity.ts';
import { type InstallationId, installationIdSchema } from '../../../machines/ids.ts';
import { type Puppeteer, startPuppeteer } from './puppet.ts';

const installationId: InstallationId = installationIdSchema.parse('Itest');
const adapter = createLinuxAdapter({ installationId, probe: probeExistence, pinLimit: 8 });
const blindfolded = createLinuxAdapter({ installationId, pinLimit: 0 });
let puppeteer: Puppeteer | undefined;

const operations: Record<string, (...args: never[]) => unknown> = {
  pid: () => process.pid,
  context: () => adapter.context(),
  capture: (pid: number) => adapter.capture(pid),
  /** The record that a guardian in these namespaces would have led to. */
  identity: (evidence: GuardianEvidence, uid: number) => {
    const context = adapter.context();
    if (isProblem(context)) throw new Error(context.detail);
    const [pidns, timens] = context.namespace.split(',').map((part) => part.split(':')[1]!);
    return identityFromGuardian(
      { installationId, bootId: context.bootId, pidns: pidns!, timens: timens!, uid },
      evidence,
    );
  },
  observe: (identity: ProcessIdentity) => adapter.observe(identity),
  observeWithoutProbe: (identity: ProcessIdentity) => blindfolded.observe(identity),
  observeThrough: (identity: ProcessIdentity, holderPid: number) =>
    adapter.observe(identity, adapter.holderOf(identity, holderPid)),
  pin: (identity: ProcessIdentity) => adapter.pin(identity),
  pidMax: (value: number) => writeFileSync('/proc/sys/kernel/pid_max', String(value)),
  puppeteer: (program: string) => {
    puppeteer = startPuppeteer(program);
    return puppeteer.pid;
  },
  puppet: (command: string) => puppeteer!.do(command),
  sameTick: (pid: number) => puppeteer!.sameTick(pid),
};

for await (const line of createInterface({ input: process.stdin })) {
  const [operation, ...args] = JSON.parse(line) as [string, ...never[]];
  let answer: object;
  try {
    answer = { value: (await operations[operation]!(...args)) ?? null };
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    answer = { error: { code, message } };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await puppeteer?.close();

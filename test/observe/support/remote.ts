import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { LinuxAdapter } from '../../../actors/observe/linux/adapter.ts';
import type { ContextResult } from '../../../actors/observe/linux/context.ts';
import type { Sample } from '../../../actors/observe/sample.ts';
import type { ProcessIdentity } from '../../../machines/identity.ts';
import { LineDialogue } from './lines.ts';
import type { PuppetState } from './puppet.ts';

export const isRoot = process.getuid!() === 0;

/** Without root, a user namespace of our own gives the right to make the other ones. */
const USER_NAMESPACE = isRoot ? [] : ['--user', '--map-root-user'];

/** The driver, running somewhere else. */
export class Remote {
  readonly #dialogue: LineDialogue;
  readonly #launcherPid: number;

  constructor(command: string, args: readonly string[]) {
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    this.#launcherPid = child.pid!;
    this.#dialogue = new LineDialogue(child);
  }

  async #call<T>(operation: string, ...args: unknown[]): Promise<T> {
    const answer = await this.#dialogue.ask<{ value?: T; error?: { code?: string; message: string } }>(
      JSON.stringify([operation, ...args]),
    );
    if (answer.error !== undefined) throw Object.assign(new Error(answer.error.message), { code: answer.error.code });
    return answer.value as T;
  }

  pid = () => this.#call<number>('pid');
  context = () => this.#call<ContextResult>('context');
  capture = (pid: number) => this.#call<ProcessIdentity>('capture', pid);
  identity = (state: PuppetState, uid = 0) =>
    this.#call<ProcessIdentity>('identity', { pid: state.pid, start: state.start, pidfs: state.pidfs }, uid);
  observe = (identity: ProcessIdentity) => this.#call<Sample>('observe', identity);
  observeWithoutProbe = (identity: ProcessIdentity) => this.#call<Sample>('observeWithoutProbe', identity);
  observeThrough = (identity: ProcessIdentity, holderPid: number) =>
    this.#call<Sample>('observeThrough', identity, holderPid);
  pin = (identity: ProcessIdentity): Promise<ReturnType<LinuxAdapter['pin']>> => this.#call('pin', identity);
  pidMax = (value: number) => this.#call<null>('pidMax', value);
  puppeteer = (program: string) => this.#call<number>('puppeteer', program);
  puppet = (command: string) => this.#call<PuppetState>('puppet', command);
  sameTick = (pid: number) => this.#call<{ first: PuppetState; second: PuppetState }>('sameTick', pid);
  close = () => this.#dialogue.close();

  /** The pid, as we see it, of what unshare(1) started inside. Valid once the driver has answered anything. */
  insidePid(): number {
    return Number(readFileSync(`/proc/${this.#launcherPid}/task/${this.#launcherPid}/children`, 'latin1').trim());
  }
}

/** A PID namespace of its own with its own procfs; `hidepid` is set on that new mount and on no other. */
export function inPidNamespace(driver: string, hidepid = '0'): Remote {
  const script = 'mount -t proc -o hidepid="$1" proc /proc && exec "$2" "$3"';
  const inside = ['sh', '-c', script, 'sh', hidepid, process.execPath, driver];
  return new Remote('unshare', [...USER_NAMESPACE, '--mount', '--pid', '--fork', '--mount-proc', ...inside]);
}

/** A PID namespace that still sees the procfs of the outer one. */
export function withForeignProc(driver: string): Remote {
  return new Remote('unshare', [...USER_NAMESPACE, '--pid', '--fork', process.execPath, driver]);
}

/** A time namespace whose boot clock is shifted. */
export function inTimeNamespace(driver: string): Remote {
  return new Remote('unshare', [
    ...USER_NAMESPACE,
    '--time',
    '--boottime',
    '100000',
    '--fork',
    process.execPath,
    driver,
  ]);
}

/** An unprivileged user inside the namespaces of `pid`; needs root. */
export function asNobodyInside(pid: number, driver: string): Remote {
  const nobody = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups', process.execPath, driver];
  return new Remote('nsenter', ['--target', String(pid), '--pid', '--mount', ...nobody]);
}

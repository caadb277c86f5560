import type { ProcReader } from '../../../actors/observe/linux/proc.ts';

/** What one read of a path yields: its content, or the errno with which it fails. */
export type Scripted = string | Buffer | { readonly errno: string };

export const BOOT = '11111111-2222-3333-4444-555555555555';
export const SELF = 4_000;
export const PID = 700;

/** Fields 4–19 and 23–52 are of no interest here, but the kernel writes them. */
export function statLine(
  fields: { pid?: number; comm?: string; state?: string; threads?: number; start?: string } = {},
) {
  const { pid = PID, comm = 'work', state = 'S', threads = 1, start = '5000' } = fields;
  return Buffer.from(`${pid} (${comm}) ${state}${' 1'.repeat(16)} ${threads} 0 ${start}${' 0'.repeat(30)}\n`, 'latin1');
}

export function statusText(uid = 1_000): string {
  return `Name:\twork\nUmask:\t0022\nState:\tS (sleeping)\nUid:\t${uid}\t${uid}\t${uid}\t${uid}\nGid:\t1\t1\t1\t1\n`;
}

const MOUNT = '22 27 0:21 / /proc rw,relatime - proc proc rw';

/** A quiet machine: our own process sees everything, one process is recorded. */
export function quietMachine(): Record<string, Scripted> {
  return {
    '/proc/self': String(SELF),
    '/proc/self/mountinfo': `21 1 8:1 / / rw - ext4 /dev/a rw\n${MOUNT}\n`,
    '/proc/self/status': 'Name:\tcustody\nUid:\t1000\t1000\t1000\t1000\nNSpid:\t4000\nCapEff:\t0000000000000000\n',
    '/proc/self/ns/pid': 'pid:[4026531836]',
    '/proc/self/ns/time': 'time:[4026531834]',
    '/proc/sys/kernel/random/boot_id': `${BOOT}\n`,
    '/proc/sys/kernel/pid_max': '4194304\n',
    [`/proc/${PID}/stat`]: statLine(),
    [`/proc/${PID}/status`]: statusText(),
  };
}

/** Replies from a script: each path has a list of answers, of which the last one stays. Every path asked for is noted. */
export class ScriptedProc implements ProcReader {
  readonly asked: string[] = [];
  readonly #answers: Map<string, Scripted[]>;
  readonly #opened = new Map<number, string>();
  #nextFd = 1_000;

  constructor(files: Readonly<Record<string, Scripted | readonly Scripted[]>>) {
    this.#answers = new Map(
      Object.entries(files).map(([path, script]) => [path, Array.isArray(script) ? [...script] : [script as Scripted]]),
    );
  }

  get reads(): number {
    return this.asked.length;
  }

  get openDescriptors(): number {
    return this.#opened.size;
  }

  /** Reads of process directories other than our own: what OBS-01 counts. */
  readsOf(pid: number): number {
    return this.asked.filter((path) => path.startsWith(`/proc/${pid}/`)).length;
  }

  set(path: string, ...script: Scripted[]): void {
    this.#answers.set(path, script);
  }

  read(path: string, into: Buffer): number {
    return this.#next(path).copy(into);
  }

  text(path: string): string {
    return this.#next(path).toString('latin1');
  }

  link(path: string): string {
    return this.text(path);
  }

  open(path: string): number {
    this.#next(path);
    this.#nextFd += 1;
    this.#opened.set(this.#nextFd, path);
    return this.#nextFd;
  }

  readPinned(fd: number, into: Buffer): number {
    return this.read(this.#opened.get(fd)!, into);
  }

  close(fd: number): void {
    if (!this.#opened.delete(fd)) throw new Error(`descriptor ${fd} closed twice`);
  }

  #next(path: string): Buffer {
    this.asked.push(path);
    const script = this.#answers.get(path);
    const answer = script === undefined ? { errno: 'ENOENT' } : script.length > 1 ? script.shift()! : script[0]!;
    if (typeof answer === 'string') return Buffer.from(answer, 'latin1');
    if (Buffer.isBuffer(answer)) return answer;
    throw Object.assign(new Error(`${answer.errno}: ${path}`), { code: answer.errno });
  }
}

/**
 * What ownership costs a daemon: the start after a SIGKILL with live terminals against an empty start of the same daemon,
 * in turns, and what it reads and burns while scopes are settled, or live, against one that owns nothing. `npm run bench --
 * recovery [ROUNDS] [SESSIONS] [LIVE] [SETTLED]`.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { operatorCredential, operatorKey } from '../../actors/runtime/credentials.ts';
import { placesOf, readRendezvous } from '../../actors/runtime/places.ts';
import { Client } from '../../cli/client.ts';
import { median } from '../timing.ts';

const [rounds = 7, sessions = 50, live = 100, settled = 1_000] = process.argv.slice(2).map(Number);
const root = resolve(import.meta.dirname, '..', '..');
const scratch = mkdtempSync(join(tmpdir(), 'custody-bench-'));
const observedMs = 10_000;

const now = (): number => Number(process.hrtime.bigint()) / 1e6;
const print = (label: string, text: string): void => console.log(`${label.padEnd(52)} ${text}`);

class Installation {
  readonly stateDir: string;
  readonly repository: string;
  readonly #env: NodeJS.ProcessEnv;
  #daemon: ChildProcess | undefined;

  constructor(name: string) {
    this.stateDir = join(scratch, name, 'state');
    this.repository = join(scratch, name, 'repository');
    const capacity = String(sessions + live + settled);
    this.#env = {
      PATH: process.env.PATH,
      HOME: join(scratch, name),
      CUSTODY_HOME: this.stateDir,
      CUSTODY_CAPACITY: capacity,
      CUSTODY_HANDSHAKE_MS: '60000',
    };
    mkdirSync(this.repository, { recursive: true });
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=bench', '-c', 'user.email=bench@localhost', ...args], {
        cwd: this.repository,
      });
    git('init', '-q');
    git('commit', '-q', '--allow-empty', '-m', 'empty');
    this.custody('init', '--no-autostart', '--json');
  }

  custody(...args: string[]): Buffer {
    const options = { env: this.#env, cwd: this.repository, maxBuffer: 1 << 28 };
    return execFileSync(process.execPath, [join(root, 'dist', 'cli.cjs'), ...args], options);
  }

  /** From the spawn to the line that says that it serves, in milliseconds. */
  async start(): Promise<number> {
    const started = now();
    this.#daemon = spawn(process.execPath, [join(root, 'dist', 'daemon.js'), '--state-dir', this.stateDir], {
      env: this.#env,
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    });
    const [said] = (await once(this.#daemon.stdio[3] as Readable, 'data')) as [Buffer];
    const elapsed = now() - started;
    if (JSON.parse(said.toString()).ok !== true) throw new Error(said.toString());
    return elapsed;
  }

  async kill(): Promise<void> {
    const exited = once(this.#daemon!, 'exit');
    this.#daemon!.kill('SIGKILL');
    await exited;
  }

  get pid(): number {
    return this.#daemon!.pid!;
  }

  async ask<Data>(name: Parameters<Client['call']>[0], args: unknown): Promise<Data> {
    const rendezvous = readRendezvous(placesOf({ stateDir: this.stateDir, env: {} }))!;
    const client = new Client(rendezvous, () => operatorCredential(operatorKey({ stateDir: this.stateDir })));
    const reply = await client.call<Data>(name, args as never);
    if (!reply.ok) throw new Error(JSON.stringify(reply.error));
    return reply.data;
  }

  async goal(): Promise<string> {
    const { goalId } = await this.ask<{ goalId: string }>('goals.add', { title: 'bench', repo: this.repository });
    await this.ask('worktrees.add', { goalId });
    return goalId;
  }

  async launch(goalId: string, argv: readonly string[], terminal = false): Promise<string> {
    const env = { PATH: process.env.PATH ?? '' };
    const more = terminal ? { terminal: { cols: 80, rows: 24 } } : {};
    return (await this.ask<{ runId: string }>('runs.exec', { goalId, argv, env, ...more })).runId;
  }
}

/** Processor time in ms and reading system calls of a process so far (proc_pid_stat(5), proc_pid_io(5)). */
function spent(pid: number): { readonly cpuMs: number; readonly reads: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]!.split(' ');
  const reads = Number(/^syscr: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'latin1'))![1]);
  return { cpuMs: (Number(stat[11]) + Number(stat[12])) * 10, reads };
}

async function idleCost(pid: number): Promise<{ readonly cpu: number; readonly reads: number }> {
  await setTimeout(3_000);
  const before = spent(pid);
  await setTimeout(observedMs);
  const after = spent(pid);
  return { cpu: ((after.cpuMs - before.cpuMs) / observedMs) * 100, reads: after.reads - before.reads };
}

async function startCost(): Promise<void> {
  const [empty, full] = [new Installation('empty'), new Installation('full')];
  await Promise.all([empty.start(), full.start()]);
  const goalId = await full.goal();
  for (let nth = 0; nth < sessions; nth += 1) await full.launch(goalId, ['sleep', '100000'], true);
  const times: { readonly empty: number; readonly full: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await empty.kill();
    await full.kill();
    times.push({ empty: await empty.start(), full: await full.start() });
  }
  const baseline = median(times.map((time) => time.empty));
  const ours = median(times.map((time) => time.full));
  const bound = 1.5 * baseline + sessions;
  print('start of an empty installation, ms', baseline.toFixed(1));
  print(
    `start after SIGKILL with ${sessions} live terminals, ms`,
    `${ours.toFixed(1)}   ratio ${(ours / baseline).toFixed(2)}, wanted at most ${bound.toFixed(1)}`,
  );
  full.custody('daemon', 'stop', '--json');
  empty.custody('daemon', 'stop', '--json');
}

async function idleCosts(): Promise<void> {
  const installation = new Installation('idle');
  await installation.start();
  const line = ({ cpu, reads }: { readonly cpu: number; readonly reads: number }) =>
    `${cpu.toFixed(2)} % of a core, ${reads} reads in ${observedMs / 1_000} s`;
  print('a daemon that owns nothing', line(await idleCost(installation.pid)));
  const goalId = await installation.goal();
  for (let nth = 0; nth < settled; nth += 20) {
    const batch = Array.from({ length: 20 }, () => installation.launch(goalId, ['true']));
    for (const runId of await Promise.all(batch)) await installation.ask('runs.wait', { id: runId, until: 'proved' });
  }
  print(`with ${settled} settled scopes`, line(await idleCost(installation.pid)));
  for (let nth = 0; nth < live; nth += 1) await installation.launch(goalId, ['sleep', '100000']);
  print(`with ${live} live scopes besides`, line(await idleCost(installation.pid)));
  installation.custody('daemon', 'stop', '--json');
}

try {
  await startCost();
  await idleCosts();
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

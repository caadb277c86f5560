/**
 * From `runs exec` over a warm socket to the workload's first byte, against a direct spawn from Node, in one run and
 * interleaved. Both start the same program, and both times end when its byte is read from the same kind of FIFO.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { CallName } from '../../actors/daemon/api/contract.ts';
import { operatorCredential, operatorKey } from '../../actors/runtime/credentials.ts';
import type { Rendezvous } from '../../actors/runtime/places.ts';
import { Client } from '../../cli/client.ts';
import { median } from '../timing.ts';

const rounds = Number(process.argv[2] ?? 60);
const root = resolve(import.meta.dirname, '..', '..');
const scratch = mkdtempSync(join(tmpdir(), 'custody-bench-'));
const stateDir = join(scratch, 'state');
const repository = join(scratch, 'repository');
const environment = {
  ...process.env,
  CUSTODY_HOME: stateDir,
  XDG_CONFIG_HOME: join(scratch, 'config'),
  XDG_RUNTIME_DIR: '',
};
const custody = (...args: string[]) =>
  execFileSync(process.execPath, [join(root, 'dist', 'cli.cjs'), ...args], { env: environment, cwd: repository });

interface Sample {
  readonly firstByteMs: number;
  readonly answeredMs: number;
  readonly steps: readonly { readonly step: string; readonly ms: number }[];
}

const now = (): number => Number(process.hrtime.bigint()) / 1e6;

/** Resolves with the time at which a byte could be read; opening and reading block in the thread pool until then. */
async function firstByte(fifo: string): Promise<number> {
  const file = await open(fifo, 'r');
  await file.read(Buffer.alloc(1), 0, 1, null);
  const at = now();
  await file.close();
  return at;
}

async function direct(fifo: string): Promise<number> {
  const arrived = firstByte(fifo);
  const started = now();
  const child = spawn('/bin/sh', ['-c', 'printf x > "$1"', 'sh', fifo], { stdio: 'ignore', cwd: repository });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const at = await arrived;
  await exited;
  return at - started;
}

async function guarded(client: Client, goalId: string, fifo: string): Promise<Sample> {
  const arrived = firstByte(fifo);
  const started = now();
  const call = client.call<{ runId: string; launch: { steps: Sample['steps'] } }>('runs.exec' satisfies CallName, {
    goalId,
    argv: ['/bin/sh', '-c', 'printf x > "$1"', 'sh', fifo],
    env: { PATH: process.env.PATH ?? '' },
  } as never);
  const firstByteMs = (await arrived) - started;
  const reply = await call;
  const answeredMs = now() - started;
  if (!reply.ok) throw new Error(reply.error.message);
  await client.call('runs.wait', { id: reply.data.runId, until: 'proved' } as never);
  return { firstByteMs, answeredMs, steps: reply.data.launch.steps };
}

async function main(): Promise<void> {
  mkdirSync(repository, { recursive: true });
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=bench', '-c', 'user.email=bench@localhost', ...args], { cwd: repository });
  git('init', '-q');
  git('commit', '-q', '--allow-empty', '-m', 'empty');
  custody('init', '--json');
  const { data } = JSON.parse(custody('goals', 'add', 'bench', '--json').toString()) as { data: { goalId: string } };
  custody('worktrees', 'add', data.goalId, '--json');
  const rendezvous = JSON.parse(readFileSync(join(stateDir, 'run', 'daemon.json'), 'utf8')) as Rendezvous;
  const client = new Client(rendezvous, () => operatorCredential(operatorKey({ stateDir })));
  const fifo = join(scratch, 'fifo');
  execFileSync('mkfifo', [fifo]);
  const plain: number[] = [];
  const samples: Sample[] = [];
  for (let round = 0; round < rounds; round += 1) {
    plain.push(await direct(fifo));
    samples.push(await guarded(client, data.goalId, fifo));
  }
  report(plain, samples);
}

function report(plain: readonly number[], samples: readonly Sample[]): void {
  const baseline = median(plain);
  const ours = median(samples.map(({ firstByteMs }) => firstByteMs));
  console.log(`rounds ${rounds}, medians in ms`);
  console.log(`direct spawn to first byte        ${baseline.toFixed(2)}`);
  console.log(`runs exec to first byte           ${ours.toFixed(2)}   ratio ${(ours / baseline).toFixed(2)}`);
  console.log(`runs exec to its answer           ${median(samples.map(({ answeredMs }) => answeredMs)).toFixed(2)}`);
  for (const { step } of samples[0]!.steps) {
    const each = samples.map(({ steps }) => steps.find((one) => one.step === step)?.ms ?? 0);
    console.log(`  ${step.padEnd(30)}  ${median(each).toFixed(2)}`);
  }
}

try {
  await main();
} finally {
  try {
    custody('daemon', 'stop', '--json');
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

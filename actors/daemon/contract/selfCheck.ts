/**
 * A short containment check of this host with the real guardian: a handful of process tricks, each with the receipts that
 * it must and must not leave (PROMO-06). It uses no actor and no store, so that `init` can run it before there is a daemon.
 */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseReceipt } from '../../../pty/guardian/receipt.ts';
import { captureFiles } from '../../../pty/launch/capture.ts';
import { controlClient } from '../../../pty/launch/control.ts';
import { type Launch, launchGuardian } from '../../../pty/launch/launch.ts';
import { reserveSlots } from '../../../pty/launch/slots.ts';
import type { CheckView } from '../api/views.ts';

/** Raised whenever a check is added or made stricter: a contract of an older battery is verified again. */
export const batteryVersion = 1;

export const doesNotCover: readonly string[] = [
  'work handed to a server that ran before: a tmux or screen server, a container daemon, D-Bus activation, at, cron, a build daemon',
  'work on another machine, reached over ssh or the network',
  'a hostile process of the same user, which can kill the guardian or rewrite files of this user',
  'memory and files that a process outside the tree shares with one inside',
];

export interface SelfCheckReport {
  readonly passed: boolean;
  readonly checks: readonly CheckView[];
}

const prefix = 'selfcheck-';

interface Bench {
  readonly directory: string;
  readonly guardianPath: string;
  readonly installationId: string;
}

/** Runs every check even if one fails. `directory` is a private place of ours; what is made in it is removed again. */
export async function runSelfCheck(bench: Bench): Promise<SelfCheckReport> {
  const directory = await mkdtemp(join(bench.directory, prefix));
  const checks: CheckView[] = [];
  try {
    for (const [id, detail, check] of battery) {
      const scopeDir = join(directory, id);
      const failure = await check({ ...bench, directory: scopeDir }).catch((error: unknown) => nameOf(error));
      checks.push({
        id: `containment.${id}`,
        ok: failure === null,
        severity: failure === null ? 'info' : 'error',
        detail: failure === null ? detail : `${detail}: ${failure}`,
        fix: failure === null ? null : 'custody doctor',
      });
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  return { passed: checks.every(({ ok }) => ok), checks };
}

/**
 * Ends and removes what a check left behind whose process died in the middle of it. To be called before a check can run:
 * one in progress looks just the same.
 */
export async function endInterruptedChecks(directory: string): Promise<void> {
  const interrupted = (await readdir(directory)).filter((name) => name.startsWith(prefix));
  for (const name of interrupted) {
    const path = join(directory, name);
    for (const [id] of battery) await endGuardian(join(path, id)).catch(() => {});
    await rm(path, { recursive: true, force: true });
  }
}

async function endGuardian(scopeDir: string): Promise<void> {
  const client = await controlClient(scopeDir);
  try {
    for await (const { event } of client.terminate({ graceMs: 0, budgetMs: 2_000 })) if (event === 'settled') return;
  } finally {
    client.close();
  }
}

const nameOf = (error: unknown): string =>
  String((error as { code?: unknown })?.code ?? (error as Error)?.name ?? 'failed').slice(0, 100);

type Check = (bench: Bench) => Promise<string | null>;

const battery: readonly (readonly [id: string, detail: string, check: Check])[] = [
  ['exit', 'an exit receipt follows the end of a simple program', simpleExit],
  ['gate', 'a program whose gate stays shut never runs', closedGate],
  ['escapee', 'a child in its own session keeps the exit receipt back, and termination reaches it', escapee],
];

async function launched({ directory, guardianPath, installationId }: Bench, script: string): Promise<Launch> {
  const slots = await reserveSlots(directory);
  const files = captureFiles(directory);
  try {
    return await launchGuardian({
      guardianPath,
      installationId,
      scopeId: 'self-check',
      scopeDir: directory,
      slots,
      argv: ['/bin/sh', '-c', script],
      env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' },
      cwd: directory,
      umask: 0o077,
      stdio: files.stdio,
      handshakeMs: 10_000,
    });
  } finally {
    files.close();
  }
}

async function receipt<Kind extends 'status' | 'exit'>(directory: string, kind: Kind) {
  const path = join(directory, `${kind}.json`);
  if (!existsSync(path)) return undefined;
  const parsed = parseReceipt(kind, await readFile(path));
  return parsed.ok ? parsed.receipt : undefined;
}

async function simpleExit(bench: Bench): Promise<string | null> {
  const launch = await launched(bench, 'exit 7');
  await launch.openGate();
  const { code } = await launch.exited;
  const status = await receipt(bench.directory, 'status');
  const exit = await receipt(bench.directory, 'exit');
  if (code !== 0 || exit === undefined) return 'there is no durable exit receipt';
  return status?.code === 7 ? null : 'the status receipt does not say how it ended';
}

async function closedGate(bench: Bench): Promise<string | null> {
  const launch = await launched(bench, ': > ran');
  await launch.abandon();
  if (existsSync(join(bench.directory, 'ran'))) return 'it ran';
  const status = await receipt(bench.directory, 'status');
  return status?.how === 'notReleased' ? null : 'no receipt says so';
}

/** The root leaves at once; the escapee stays until the guardian ends it, and not for ever if this process dies first. */
async function escapee(bench: Bench): Promise<string | null> {
  await mkdir(bench.directory, { mode: 0o700 });
  const script = 'mkfifo up; setsid sh -c "trap \'\' HUP; echo > up; exec sleep 60" & read x < up; exit 0';
  const launch = await launched(bench, script);
  await launch.openGate();
  const client = await controlClient(bench.directory, { timeoutMs: 10_000 });
  try {
    const early = await seen(client, bench.directory);
    let settled = false;
    for await (const event of client.terminate({ graceMs: 0, budgetMs: 10_000 })) settled ||= event.event === 'settled';
    await launch.exited;
    const exit = await receipt(bench.directory, 'exit');
    if (early !== null) return early;
    return settled && exit !== undefined ? null : 'termination did not end in an exit receipt';
  } finally {
    client.close();
  }
}

/** Asks until the guardian has seen the root end; the escapee must still be there then, and no exit receipt. */
async function seen(client: Awaited<ReturnType<typeof controlClient>>, directory: string): Promise<string | null> {
  for (;;) {
    const { phase } = await client.hello();
    if (phase === 'rootEnded') break;
  }
  const { total } = await client.members();
  if (total === 0) return 'the escapee is not seen by the guardian';
  return (await receipt(directory, 'exit')) === undefined ? null : 'the exit receipt came while the escapee was alive';
}

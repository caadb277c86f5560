/** What a containment check has at hand: a place, launches under the real guardian, and that everything ends with it. */
import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseReceipt, type ReceiptKind } from '../../../pty/guardian/receipt.ts';
import { captureFiles } from '../../../pty/launch/capture.ts';
import { type ControlClient, controlClient } from '../../../pty/launch/control.ts';
import type { DrainEvent } from '../../../pty/launch/controlMessages.ts';
import type { LaunchFrame } from '../../../pty/launch/frame.ts';
import { type Launch, type LaunchRequest, launchGuardian } from '../../../pty/launch/launch.ts';
import { signalProcess } from '../../../pty/launch/signal.ts';
import { reserveSlots } from '../../../pty/launch/slots.ts';
import { type Talk, talkIn } from './talk.ts';

/** A process of the same executable as another one, in the words that a signal needs. */
export interface GuardianProcess {
  readonly pid: number;
  readonly start: string;
  readonly uid: number;
}

export interface Bench {
  /** The scope directory of the check; not made yet. */
  readonly directory: string;
  readonly guardianPath: string;
  readonly installationId: string;
  /** Every process that the guardian with this pid consists of. Missing where there is no platform adapter. */
  readonly guardianOf?: ((pid: number) => readonly GuardianProcess[]) | undefined;
  /** Called in reverse order when the check is over, however it ended. */
  readonly atEnd: (undo: () => unknown) => void;
}

/** Null, or why the claim does not hold here. Throwing says the same. */
export type Check = (bench: Bench) => Promise<string | null>;

/** Nothing here waits for long; a drain that takes more has failed. */
export const drainBudgetMs = 5_000;

const shellPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** How a script is launched, as far as checks do not differ. */
export async function frameFor(
  { directory, installationId }: Pick<Bench, 'directory' | 'installationId'>,
  argv: readonly string[],
): Promise<LaunchFrame> {
  return {
    installationId,
    scopeId: 'self-check',
    scopeDir: directory,
    slots: await reserveSlots(directory),
    argv,
    env: { PATH: shellPath },
    cwd: directory,
    umask: 0o077,
    handshakeMs: 10_000,
  };
}

export const shell = (script: string, ...args: string[]): readonly string[] => ['/bin/sh', '-c', script, ...args];

/** Ends with the check, also when the check has not come to the end of it. */
export async function launchedAs(bench: Bench, request: LaunchRequest): Promise<Launch> {
  const launch = await launchGuardian(request);
  bench.atEnd(async () => {
    await endGuardian(request.scopeDir).catch(() => undefined);
    await launch.abandon();
  });
  return launch;
}

/** With its output in files of the scope directory, and nothing to read. */
export async function launchedSilently(bench: Bench, argv: readonly string[]): Promise<Launch> {
  const frame = await frameFor(bench, argv);
  const files = captureFiles(bench.directory);
  try {
    return await launchedAs(bench, { ...frame, guardianPath: bench.guardianPath, stdio: files.stdio });
  } finally {
    files.close();
  }
}

export interface Talking {
  readonly launch: Launch;
  readonly talk: Talk;
}

/** Its standard streams are a talk with us; the gate is still shut. */
export async function launchedTalking(
  bench: Bench,
  argv: readonly string[],
  changes: Partial<LaunchRequest> = {},
): Promise<Talking> {
  const talk = await talkFor(bench);
  const { theirs } = talk;
  try {
    const frame = await frameFor(bench, argv);
    const stdio = [theirs, theirs, theirs] as const;
    const launch = await launchedAs(bench, { ...frame, guardianPath: bench.guardianPath, stdio, ...changes });
    return { launch, talk };
  } finally {
    talk.handedOver();
  }
}

export async function talkFor(bench: Bench): Promise<Talk> {
  await mkdir(bench.directory, { recursive: true, mode: 0o700 });
  const talk = await talkIn(bench.directory);
  bench.atEnd(() => talk.close());
  return talk;
}

export async function controlOf(bench: Bench, directory = bench.directory): Promise<ControlClient> {
  const client = await controlClient(directory, { timeoutMs: drainBudgetMs });
  bench.atEnd(() => client.close());
  return client;
}

/** Asks until the guardian has seen the root end; a guardian that has gone too is an error. */
export async function rootEnded(client: ControlClient): Promise<void> {
  while ((await client.hello()).phase !== 'rootEnded');
}

/** All events of one termination; without a grace nobody is asked first. */
export async function terminated(
  client: ControlClient,
  graceMs = 0,
  onEvent: () => void = () => {},
): Promise<readonly DrainEvent[]> {
  const events: DrainEvent[] = [];
  for await (const event of client.terminate({ graceMs, budgetMs: drainBudgetMs })) {
    events.push(event);
    onEvent();
  }
  return events;
}

export async function receipt<Kind extends ReceiptKind>(directory: string, kind: Kind) {
  const path = join(directory, `${kind}.json`);
  if (!existsSync(path)) return undefined;
  const parsed = parseReceipt(kind, await readFile(path));
  return parsed.ok ? parsed.receipt : undefined;
}

/** One that a check had stopped does not answer before somebody continues it, and with it its second process. */
export async function wakeGuardian({ directory, guardianPath }: Pick<Bench, 'directory' | 'guardianPath'>) {
  const start = await receipt(directory, 'start');
  if (start === undefined) return;
  await signalProcess({ guardianPath, ...start.guardian, uid: start.uid, signal: 'SIGCONT' });
}

/** Ends whatever a guardian still guards. Throws when none answers. */
export async function endGuardian(scopeDir: string): Promise<void> {
  const client = await controlClient(scopeDir);
  try {
    for await (const { event } of client.terminate({ graceMs: 0, budgetMs: 2_000 })) if (event === 'settled') return;
  } finally {
    client.close();
  }
}

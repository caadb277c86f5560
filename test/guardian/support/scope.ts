import { mkdirSync, mkdtempSync, readFileSync, rmSync, watch } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Receipt, ReceiptKind } from '../../../pty/guardian/receipt.ts';
import { parseReceipt } from '../../../pty/guardian/receipt.ts';
import { captureFiles } from '../../../pty/launch/capture.ts';
import type { ControlClient } from '../../../pty/launch/control.ts';
import { controlClient } from '../../../pty/launch/control.ts';
import type { Launch, LaunchRequest } from '../../../pty/launch/launch.ts';
import { launchGuardian } from '../../../pty/launch/launch.ts';
import type { ReservedSlots } from '../../../pty/launch/slots.ts';
import { reserveSlots } from '../../../pty/launch/slots.ts';
import { guardian } from './programs.ts';

/** A directory of this test alone, removed when the test is over. */
export function workDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'custody-guardian-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

export type LaunchChanges = Partial<Omit<LaunchRequest, 'argv' | 'scopeDir'>> & { scopeDir?: string };

/** One scope with everything a test looks at. */
export interface Scope {
  readonly directory: string;
  readonly slots: ReservedSlots;
  readonly launch: Launch;
  readonly stdout: () => string;
  receipt<K extends ReceiptKind>(kind: K): Extract<Receipt, { kind: K }>;
  /** Resolves when the file is there: receipts are renamed into place, and the directory announces that. */
  appeared(name: string): Promise<void>;
  control(): Promise<ControlClient>;
}

export function readReceipt<K extends ReceiptKind>(directory: string, kind: K): Extract<Receipt, { kind: K }> {
  const parsed = parseReceipt(kind, readFileSync(join(directory, `${kind}.json`)));
  if (!parsed.ok) throw new Error(`${kind} receipt: ${parsed.reason}`);
  return parsed.receipt;
}

export function exists(path: string): boolean {
  try {
    readFileSync(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

export function appeared(directory: string, name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const watcher = watch(directory);
    const look = () => {
      if (!exists(join(directory, name))) return;
      watcher.close();
      resolve();
    };
    watcher.on('change', look).on('error', reject);
    look();
  });
}

/** Launches and stops before the gate. A guardian that a failing test leaves behind is told to end its tree. */
export async function gated(argv: readonly string[], changes: LaunchChanges = {}): Promise<Scope> {
  const directory = changes.scopeDir ?? join(workDirectory(), 'scope');
  const slots = changes.slots ?? (await reserveSlots(directory));
  const capture = captureFiles(directory);
  const launch = await launchGuardian({
    guardianPath: guardian(),
    scopeId: 'S0123456789',
    scopeDir: directory,
    installationId: 'I0123456789',
    slots,
    argv,
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin' },
    cwd: '/',
    umask: 0o022,
    stdio: capture.stdio,
    handshakeMs: 20_000,
    ...changes,
  }).finally(() => capture.close());
  onTestFinished(() => endQuietly(directory, launch));
  return {
    directory,
    slots,
    launch,
    stdout: () => readFileSync(capture.stdoutPath, 'utf8'),
    receipt: (kind) => readReceipt(directory, kind),
    appeared: (name) => appeared(directory, name),
    control: () => controlClient(directory, { timeoutMs: 20_000 }),
  };
}

/** Launches and opens the gate. */
export async function run(argv: readonly string[], changes: LaunchChanges = {}): Promise<Scope> {
  const scope = await gated(argv, changes);
  await scope.launch.openGate();
  return scope;
}

/** Runs to the end of the tree. */
export async function runToEnd(
  argv: readonly string[],
  changes: LaunchChanges = {},
): Promise<Scope & { code: number | null }> {
  const scope = await run(argv, changes);
  return { ...scope, code: (await scope.launch.exited).code };
}

async function endQuietly(directory: string, launch: Launch): Promise<void> {
  const client = await controlClient(directory, { timeoutMs: 500 }).catch(() => undefined);
  if (client === undefined) return;
  try {
    for await (const _event of client.terminate({ graceMs: 0, budgetMs: 3000 }));
    await launch.exited;
  } catch {
    // The test has its own word about a guardian that does not answer.
  } finally {
    client.close();
  }
}

export function makeDirectory(path: string): string {
  mkdirSync(path, { recursive: true });
  return path;
}

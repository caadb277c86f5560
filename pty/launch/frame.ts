import { isAbsolute } from 'node:path';
import { GuardianLaunchError } from './errors.ts';
import type { ReservedSlots } from './slots.ts';

/** What the guardian is told about the work. Travels over the link only, never through argv or the environment. */
export interface LaunchFrame {
  readonly scopeId: string;
  readonly scopeDir: string;
  readonly installationId: string;
  readonly slots: ReservedSlots;
  readonly argv: readonly string[];
  /** The workload's whole environment; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly umask: number;
  readonly handshakeMs: number;
  /** Defaults for a SIGTERM that reaches the guardian itself. */
  readonly graceMs?: number;
  readonly budgetMs?: number;
  /** Scope directory of the enclosing guardian, when this one is started inside another scope. */
  readonly upSocketDir?: string;
  /** A directory of cgroup v2 that is ours to divide; the workload gets a cgroup of its own there, where that can be made. */
  readonly cgroup?: string;
  /** SHA-256 (hex) of other guardian executables that may enrol as nested ones. */
  readonly knownGuardians?: readonly string[];
  /** The workload gets the terminal on its stdin as its controlling terminal. */
  readonly terminal?: TerminalFrame;
}

export interface TerminalFrame {
  /** The nonce of the end marker (endMarker.ts): 32 lowercase hex digits, used for nothing else. */
  readonly marker: string;
  /** How long the guardian keeps the terminal open after its last word for a reader that does not acknowledge it. */
  readonly lingerMs: number;
}

export const frameMaxBytes = 8 * 1024 * 1024;

function slotLines(slots: ReservedSlots): string[] {
  const { start, status, exit, adopted } = slots;
  return [
    `nonceStart=${start.nonce}`,
    `nonceStatus=${status.nonce}`,
    `nonceExit=${exit.nonce}`,
    `slotStart=${start.dev}:${start.ino}`,
    `slotStatus=${status.dev}:${status.ino}`,
    `slotExit=${exit.dev}:${exit.ino}`,
    `slotAdopted=${adopted.dev}:${adopted.ino}`,
  ];
}

function optionalLines(frame: LaunchFrame): string[] {
  const lines: string[] = [];
  if (frame.graceMs !== undefined) lines.push(`graceMs=${frame.graceMs}`);
  if (frame.budgetMs !== undefined) lines.push(`budgetMs=${frame.budgetMs}`);
  if (frame.upSocketDir !== undefined) lines.push(`upSocketDir=${frame.upSocketDir}`);
  if (frame.cgroup !== undefined) lines.push(`cgroup=${frame.cgroup}`);
  for (const digest of frame.knownGuardians ?? []) lines.push(`knownGuardian=${digest}`);
  if (frame.terminal !== undefined) {
    lines.push('terminal=1', `marker=${frame.terminal.marker}`, `lingerMs=${frame.terminal.lingerMs}`);
  }
  return lines;
}

/** One length-prefixed frame of NUL-terminated `key=value` strings. Throws `request_invalid` before anything started. */
export function encodeFrame(frame: LaunchFrame): Buffer {
  const lines = [
    'protocol=1',
    `scope=${frame.scopeId}`,
    `installation=${frame.installationId}`,
    `dir=${frame.scopeDir}`,
    `cwd=${frame.cwd}`,
    `umask=${frame.umask.toString(8)}`,
    `handshakeMs=${frame.handshakeMs}`,
    ...slotLines(frame.slots),
    ...optionalLines(frame),
    ...frame.argv.map((value) => `arg=${value}`),
    ...Object.entries(frame.env).map(([name, value]) => `env=${name}=${value}`),
  ];
  const wellFormed = frame.argv.length > 0 && isAbsolute(frame.cwd) && isAbsolute(frame.scopeDir);
  if (!wellFormed || lines.some((line) => line.includes('\0'))) {
    throw new GuardianLaunchError({ code: 'request_invalid', phase: 'spawn', step: 'frame' });
  }
  const body = Buffer.from(`${lines.join('\0')}\0`);
  if (body.length > frameMaxBytes) {
    throw new GuardianLaunchError({ code: 'request_invalid', phase: 'spawn', step: 'tooLarge' });
  }
  const head = Buffer.alloc(4);
  head.writeUInt32LE(body.length);
  return Buffer.concat([head, body]);
}

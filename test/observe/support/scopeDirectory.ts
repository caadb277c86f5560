import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ScopeExpectation } from '../../../actors/observe/receipts/scope.ts';
import {
  type ExitReceipt,
  type ReceiptKind,
  receiptBytes,
  type StartReceipt,
  type StatusReceipt,
} from '../../../pty/guardian/receipt.ts';

export const kinds: readonly ReceiptKind[] = ['start', 'status', 'exit'];
const BOOT = '69f71e87-751e-42c2-93f5-c7f9c82edc70';

const nonces: Record<ReceiptKind, string> = { start: 'a'.repeat(32), status: 'b'.repeat(32), exit: 'c'.repeat(32) };

const binding = (kind: ReceiptKind) => ({
  scope: 'Sscope',
  nonce: nonces[kind],
  installation: 'Itest',
  boot: BOOT,
  pidns: '4026531836',
  timens: '4026531834',
  uid: process.getuid!(),
  guardian: { pid: 500, start: '90000', pidfs: '7001' },
  workload: { pid: 501, start: '90001', pidfs: '7002' },
  enclosing: null,
});

const outcome = { how: 'exited', code: 7, signal: null, errno: null, waitStatus: 7 << 8 } as const;

/** What an honest guardian writes about a workload that exited 7 and left one child behind for a while. */
export const honest = {
  start: { v: 1, kind: 'start', ...binding('start'), atNs: '1000' } satisfies StartReceipt,
  status: { v: 1, kind: 'status', ...binding('status'), ...outcome, atNs: '2000' } satisfies StatusReceipt,
  exit: {
    v: 1,
    kind: 'exit',
    claim: 'no-descendants',
    ...binding('exit'),
    ...outcome,
    proof: 'ECHILD',
    reaped: 2,
    adopted: 1,
    terminated: false,
    lostNested: 0,
    atNs: '3000',
  } satisfies ExitReceipt,
};

export function receiptText(receipt: object): string {
  return `${JSON.stringify(receipt).padEnd(receiptBytes - 1, ' ')}\n`;
}

/** A scope directory with its three reserved slots, as a launcher leaves it. */
export interface ScopeDirectory {
  readonly path: string;
  readonly expected: ScopeExpectation;
  file(kind: ReceiptKind): string;
  /** Writes into the reserved slot and gives it its name, like a guardian. */
  publish(kind: ReceiptKind, content?: object | string | Buffer): void;
  publishAll(): void;
  close(): void;
}

export function makeScopeDirectory(scopeId = 'Sscope'): ScopeDirectory {
  const parent = mkdtempSync(join(tmpdir(), 'custody-receipts-'));
  const path = join(parent, 'scope');
  mkdirSync(path);
  chmodSync(path, 0o700);
  const slot = (kind: ReceiptKind) => {
    const reserved = join(path, `${kind}.reserved`);
    writeFileSync(reserved, Buffer.alloc(receiptBytes), { mode: 0o600 });
    const { dev, ino } = statSync(reserved, { bigint: true });
    const nonceHash = createHash('sha256').update(nonces[kind]).digest('hex');
    return { dev: String(dev), ino: String(ino), nonceHash };
  };
  const expected: ScopeExpectation = {
    scopeId,
    scopeDir: path,
    slots: { start: slot('start'), status: slot('status'), exit: slot('exit') },
    installationId: 'Itest',
    uid: process.getuid!(),
    bootId: BOOT,
    pidns: '4026531836',
    timens: '4026531834',
    guardian: honest.start.guardian,
    workload: honest.start.workload,
    enclosingScopeId: null,
  };
  const file = (kind: ReceiptKind) => join(path, `${kind}.json`);
  const publish: ScopeDirectory['publish'] = (kind, content = { ...honest[kind], scope: scopeId }) => {
    const reserved = join(path, `${kind}.reserved`);
    const bytes = typeof content === 'string' || Buffer.isBuffer(content) ? content : receiptText(content);
    writeFileSync(reserved, bytes, { flag: 'r+' });
    renameSync(reserved, file(kind));
  };
  return {
    path,
    expected,
    file,
    publish,
    publishAll: () => {
      for (const kind of kinds) publish(kind);
    },
    close: () => rmSync(parent, { recursive: true, force: true }),
  };
}

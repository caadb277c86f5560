/** The loss of one of the two processes of a guardian, and what must be true afterwards whatever it was doing (linux case 22). */
import { readdirSync } from 'node:fs';
import { expect } from 'vitest';
import type { Receipt } from '../../../pty/guardian/receipt.ts';
import { type Named, signalVerified } from '../../support/daemonLeftovers.ts';
import { guardianPair } from '../../support/guardianPair.ts';
import { isGone } from './processes.ts';
import { appeared, readReceipt } from './scope.ts';

export const halves = ['worker', 'witness'] as const;
export type Half = (typeof halves)[number];

export interface LostHalf {
  readonly lost: Named;
  /** The other one, which goes on. */
  readonly left: Named;
}

/** Kills one half and waits until it is gone. */
export async function loseHalf(guardianPid: number, half: Half): Promise<LostHalf> {
  const { witness, worker } = guardianPair(guardianPid);
  if (worker === undefined) throw new Error(`guardian ${guardianPid} has no worker`);
  const [lost, left] = half === 'worker' ? [worker, witness] : [witness, worker];
  expect(signalVerified(lost, 'SIGKILL')).toBe(true);
  await isGone(lost.pid);
  return { lost, left };
}

type ExitReceipt = Extract<Receipt, { kind: 'exit' }>;

/** All three receipts are there and belong together, and nothing else is left in the directory. */
export async function expectWhole(directory: string): Promise<ExitReceipt> {
  await appeared(directory, 'exit.json');
  const [start, status, exit] = [
    readReceipt(directory, 'start'),
    readReceipt(directory, 'status'),
    readReceipt(directory, 'exit'),
  ];
  for (const { guardian, workload, boot } of [status, exit]) {
    expect({ guardian, workload, boot }).toEqual({
      guardian: start.guardian,
      workload: start.workload,
      boot: start.boot,
    });
  }
  const { how, code, signal, errno, waitStatus } = status;
  expect(exit).toMatchObject({ how, code, signal, errno, waitStatus, proof: 'ECHILD' });
  expect(readdirSync(directory).filter((name) => name.endsWith('.reserved'))).toEqual([]);
  return exit;
}

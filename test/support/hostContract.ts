/**
 * The containment contract of this host, verified once for the whole run of the tests, by the program that ships. Most
 * installations of the tests begin with it, like one whose daemon has been there before: a daemon that has none first
 * runs the whole battery, which costs more than what most tests look at.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { calendarClock } from '../../actors/daemon/calendarClock.ts';
import { contractName } from '../../actors/daemon/contract/record.ts';
import { openStore } from '../../persistence/store.ts';
import type { VerifiedContract } from '../../persistence/tables/contracts.ts';
import { cliProgram } from './daemonProcess.ts';

/** Throws when the battery does not pass here. */
export function verifyHostContract(): VerifiedContract {
  const directory = mkdtempSync(join(tmpdir(), 'custody-contract-'));
  const stateDir = join(directory, 'state');
  const custody = (...args: string[]) =>
    execFileSync(process.execPath, [cliProgram, ...args, '--state-dir', stateDir], {
      cwd: '/',
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  try {
    custody('init');
    custody('daemon', 'start');
    custody('contract', 'verify');
    custody('daemon', 'stop');
    const store = openStore({ stateDir, clock: calendarClock, create: false });
    const row = store.contracts.find(contractName);
    store.close();
    if (row === undefined) throw new Error('the containment battery did not pass on this host');
    return row;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/**
 * The containment contract of this host, verified by the program that ships, once for each kernel, guardian and battery.
 * Most installations of the tests begin with it, like one whose daemon has been there before: a daemon that has none first
 * runs the whole battery, which costs more than what most tests look at.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { calendarClock } from '../../actors/daemon/calendarClock.ts';
import { contractName } from '../../actors/daemon/contract/record.ts';
import { isContractCurrent } from '../../actors/daemon/contract/verify.ts';
import { openStore } from '../../persistence/store.ts';
import type { VerifiedContract } from '../../persistence/tables/contracts.ts';
import { guardianBinary, guardianDigest } from '../../pty/launch/binary.ts';
import { cliProgram } from './daemonProcess.ts';

const cache = fileURLToPath(new URL('../../node_modules/.cache/custody-tests', import.meta.url));
const verified = join(cache, 'host-contract.json');

/** What an earlier run of the tests has verified, as long as a daemon would still go by it. Throws when the battery does not pass. */
export async function hostContract(): Promise<VerifiedContract> {
  const digest = guardianDigest(await guardianBinary());
  if (existsSync(verified)) {
    const row = JSON.parse(readFileSync(verified, 'utf8')) as VerifiedContract;
    if (isContractCurrent({ contracts: { find: () => row, put: () => {} } }, digest)) return row;
  }
  const row = verify();
  mkdirSync(cache, { recursive: true });
  const fresh = `${verified}.${process.pid}`;
  writeFileSync(fresh, JSON.stringify(row));
  renameSync(fresh, verified); // tests may run twice at the same time
  return row;
}

function verify(): VerifiedContract {
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

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { filter, firstValueFrom, map, of, take, toArray } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLinuxAdapter } from '../../actors/observe/linux/adapter.ts';
import { createSystemClock } from '../../actors/observe/linux/clock.ts';
import { guardianEvidence, identityFromGuardian } from '../../actors/observe/linux/identity.ts';
import { probeExistence } from '../../actors/observe/linux/probe.ts';
import type { ScopeExpectation } from '../../actors/observe/receipts/scope.ts';
import { type ReceiptEvent, receipts$ } from '../../actors/observe/streams/receipts.ts';
import { installationIdSchema } from '../../machines/ids.ts';
import { guardianBinary } from '../../pty/launch/binary.ts';
import { captureFiles } from '../../pty/launch/capture.ts';
import { type Launch, launchGuardian } from '../../pty/launch/launch.ts';
import { type ReservedSlots, reserveSlots } from '../../pty/launch/slots.ts';
import { isRoot } from './support/remote.ts';

const installationId = installationIdSchema.parse('Itest');
const clock = createSystemClock();

describe('a real guardian', () => {
  let directory: string;
  let scopeDir: string;
  let launch: Launch;
  let slots: ReservedSlots;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'custody-guarded-'));
    scopeDir = join(directory, 'Sreal');
  });
  afterEach(async () => {
    await launch.exited;
    rmSync(directory, { recursive: true, force: true });
  });

  async function start(script: string): Promise<void> {
    slots = await reserveSlots(scopeDir);
    const capture = captureFiles(scopeDir);
    launch = await launchGuardian({
      guardianPath: await guardianBinary(),
      scopeId: 'Sreal',
      scopeDir,
      installationId,
      slots,
      argv: ['/bin/sh', '-c', script],
      env: {},
      cwd: directory,
      umask: 0o077,
      handshakeMs: 5_000,
      stdio: capture.stdio,
    });
    capture.close();
  }

  /** What the rows say after the handshake was committed. */
  function recorded(): ScopeExpectation {
    const { guardian, workload, bootId, pidns, timens, uid } = launch.ready;
    const evidence = { installationId, bootId, pidns, timens, uid };
    return {
      scopeId: 'Sreal',
      scopeDir,
      slots,
      ...evidence,
      guardian: guardianEvidence(identityFromGuardian(evidence, guardian)),
      workload: guardianEvidence(identityFromGuardian(evidence, workload)),
      enclosingScopeId: null,
    };
  }

  const kindsOf = (expected: ScopeExpectation) =>
    firstValueFrom(
      receipts$({ scopes$: of({ watch: expected }), clock }).pipe(
        filter((event): event is Extract<ReceiptEvent, { type: 'authentic' }> => event.type === 'authentic'),
        map(({ reading }) => reading),
        take(3),
        toArray(),
      ),
    );

  it('case 2, GRD-05: its three receipts are authentic and say how the workload ended', async () => {
    await start('exit 7');
    const readings = kindsOf(recorded());
    await launch.openGate();
    const [first, status, exit] = await readings;
    expect(first!.receipt.kind).toBe('start');
    expect(status!.receipt).toMatchObject({ kind: 'status', how: 'exited', code: 7 });
    expect(exit!.receipt).toMatchObject({ kind: 'exit', proof: 'ECHILD', reaped: 1, adopted: 0 });
  });

  it('ruling 7: a gate that was never opened leaves receipts that say so, also to a reader without the handshake', async () => {
    await start('exit 0');
    const { guardian: _, workload: __, ...unattached } = recorded();
    const readings = kindsOf(unattached);
    await launch.abandon();
    expect((await readings)[1]!.receipt).toMatchObject({ kind: 'status', how: 'notReleased', code: null });
  });

  it('case 3: a workload that was killed is authentic evidence too', async () => {
    await start('kill -9 $$');
    const readings = kindsOf(recorded());
    await launch.openGate();
    expect((await readings)[1]!.receipt).toMatchObject({ how: 'signaled', signal: 9, waitStatus: 9 });
  });

  it('case 29: an exit receipt that the workload made is refused, and the guardian does not replace it', async () => {
    await start(`cp ${join(scopeDir, 'start.json')} ${join(scopeDir, 'exit.json')}; exit 0`);
    const refused = firstValueFrom(
      receipts$({ scopes$: of({ watch: recorded() }), clock, pollMs: 50 }).pipe(
        filter((event): event is Extract<ReceiptEvent, { type: 'refused' }> => event.type === 'refused'),
      ),
    );
    await launch.openGate();
    expect(await refused).toMatchObject({ kind: 'exit', reason: 'wrong_inode' });
    expect(await launch.exited).toMatchObject({ code: 74 });
  });

  it('ID-07, cases 38 and 41: both identities of the handshake are observed, the workload through the guardian’s pidfd', async () => {
    await start('read line');
    const { guardian, workload, ...context } = launch.ready;
    const evidence = { installationId, ...context };
    const adapter = createLinuxAdapter({ installationId, probe: probeExistence });
    const guardianIdentity = identityFromGuardian(evidence, guardian);
    const workloadIdentity = identityFromGuardian(evidence, workload);
    expect(adapter.observe(guardianIdentity)).toMatchObject({ result: 'alive', signalable: true });
    expect(adapter.observe(workloadIdentity)).toMatchObject({ result: 'alive', signalable: true });

    // The guardian is not dumpable, so only a privileged reader sees which pidfd it holds.
    const holder = adapter.holderOf(workloadIdentity, guardian.pid);
    expect(holder === undefined).toBe(!isRoot);
    if (isRoot) expect(adapter.observe(workloadIdentity, holder)).toMatchObject({ result: 'alive', strength: 'pidfd' });

    await launch.abandon();
    expect(adapter.observe(guardianIdentity)).toMatchObject({ result: 'ended', reason: 'absent' });
    expect(adapter.observe(workloadIdentity)).toMatchObject({ result: 'ended', reason: 'absent' });
  });
});

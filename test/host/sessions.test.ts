/** The chart of sessions in the real host: found by their scope, ended in the commits of their scope, loaded again. */
import { describe, expect, it } from 'vitest';
import type { Host } from '../../actors/host/api.ts';
import type { Draft } from '../../actors/host/outcome.ts';
import type { EventType, Payload } from '../../machines/events/catalogue.ts';
import { protocol } from '../../machines/protocol.ts';
import type { SessionSnapshot } from '../../machines/ptySession.ts';
import type { Store } from '../../persistence/store.ts';
import { exitReceipt, statusReceipt } from '../machines/support/evidence.ts';
import { attached, bound, prepared, rebooted } from '../machines/support/play.ts';
import { scopeInput } from '../machines/support/scopeSamples.ts';
import { sessionInput } from '../machines/support/sessionSamples.ts';
import { captureDrains, captureOver, fault, result, resultDigest } from '../machines/support/sessionStory.ts';
import { runInput } from '../machines/tables/run.ts';
import { producer, testHost } from './support/testHost.ts';

const ids = { run: 'R1', executionScope: 'S1', ptySession: 'P1' } as const;
const draft = <Type extends EventType>(kind: keyof typeof ids, type: Type, payload: Payload<Type>): Draft => ({
  type,
  actor: { kind, id: ids[kind] },
  producer,
  payload,
});
const toScope = ([type, payload]: readonly [EventType, object]) => draft('executionScope', type, payload as never);
const toSession = ([type, payload]: readonly [EventType, object]) => draft('ptySession', type, payload as never);

const opening: Draft[] = [
  draft('run', 'run.reserved', runInput({ generationId: null })),
  draft('executionScope', 'scope.requested', scopeInput({ generationId: null })),
  draft('ptySession', 'session.opened', sessionInput()),
];
const releasing: Draft[] = [
  toScope(prepared),
  toScope(attached),
  draft('run', 'identity.bound', bound[1] as Payload<'identity.bound'>),
  draft('executionScope', 'launch.releaseCommitted', {}),
];
const drain = (requestId: string): Draft => draft('executionScope', 'drain.requested', { cause: 'stop', requestId });
const status = draft('executionScope', 'workload.statusReceipt', statusReceipt('S1'));
const exit = draft('executionScope', 'guardian.exitReceipt', exitReceipt());

const sessionIn = (host: Host) => host.snapshotOf('ptySession', 'P1') as SessionSnapshot;

async function running(store?: Store) {
  const test = testHost({ ...protocol, ...(store === undefined ? {} : { store }) });
  for (const call of [opening, releasing]) {
    const outcomes = await test.host.submit(call);
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(call.map(() => 'changed'));
  }
  const from = test.store.journal.lastPosition();
  const written = () =>
    test.store.journal.page({ after: from }).map((entry) => entry.intact && `${entry.actor.kind} ${entry.type}`);
  return { ...test, written };
}

describe('a session in the host', () => {
  it('is opened with its scope and run, and begins in the commit of the release', async () => {
    const { host, store } = await running();
    expect(sessionIn(host).value).toEqual({
      workload: { running: 'working' },
      capture: 'capturing',
      scope: 'unsettled',
    });
    expect(host.linked('ptySession', 'scopeId', 'S1')).toEqual(['P1']);
    expect(host.linked('ptySession', 'runId', 'R1')).toEqual(['P1']);
    expect(await store.check()).toMatchObject({ ok: true });
  });

  it('PTY-04: brings its result, and asks for one drain in the same commit', async () => {
    const { host, written } = await running();
    await host.submit([toSession(result(true))]);
    expect(written()).toEqual(['ptySession result.reported', 'executionScope drain.requested']);
    await host.submit([toSession(fault('hostLost'))]);
    await host.submit([status, exit]);
    expect(written().filter((event) => String(event).endsWith('drain.requested'))).toHaveLength(1);
    expect(sessionIn(host).context).toMatchObject({ structured: resultDigest, firstFailure: null });
    expect(sessionIn(host).value).toEqual({ workload: 'final', capture: 'incomplete', scope: 'proved' });
  });

  it('ruling 4: is stopped through its scope, in one commit and without an echo', async () => {
    const { host, written } = await running();
    let commits = 0;
    host.onCommit(() => {
      commits += 1;
    });
    await host.submit([drain('q1')]);
    expect([commits, written()]).toEqual([1, ['executionScope drain.requested', 'ptySession stop.requested']]);
    expect(sessionIn(host).context.firstFailure).toMatchObject({ cause: 'stop', reason: 'stop' });
    await host.submit([drain('q2')]);
    expect(written().slice(2)).toEqual(['executionScope drain.requested']);
  });

  it('PTY-04: ends by itself, and leaves the drain to its scope', async () => {
    const { host, written } = await running();
    await host.submit([status]);
    expect(written()).toEqual([
      'executionScope workload.statusReceipt',
      'run workload.statusReceipt',
      'executionScope drain.requested',
      'ptySession workload.statusReceipt',
    ]);
    expect(sessionIn(host).value.workload).toBe('final');
  });

  it('ruling 14: is over for whoever waits when all three regions are, and is found by its scope no more', async () => {
    const { host } = await running();
    await host.submit([status, exit]);
    const settled = new Promise<void>((resolve) => {
      host.actor('ptySession', 'P1').subscribe({ complete: resolve });
    });
    expect(host.list('ptySession', { released: false })).toHaveLength(1);
    await host.submit([toSession(captureDrains), toSession(captureOver)]);
    await settled;
    expect(host.list('ptySession', { released: false })).toEqual([]);
  });

  it('PTY-02: takes a status that turns up after it was settled without one', async () => {
    const { host } = await running();
    await host.submit([toScope(rebooted), toSession(captureDrains), toSession(captureOver)]);
    expect(sessionIn(host).value.workload).toBe('indeterminate');
    expect(host.list('ptySession', { released: false })).toEqual([]);
    await host.submit([status]);
    expect(sessionIn(host).value.workload).toBe('final');
    expect(sessionIn(host).context).toMatchObject({
      status: { how: 'exited', code: 0 },
      firstFailure: { cause: 'status', reason: 'boot_epoch' },
    });
  });

  it('JRN-02: is what it was when the host starts again', async () => {
    const first = await running();
    await first.host.submit([toSession(result(false))]);
    await first.host.close();
    const { host } = testHost({ ...protocol, store: first.store });
    const [before, after] = [sessionIn(first.host), sessionIn(host)];
    expect([after.value, after.context]).toEqual([before.value, before.context]);
    expect(await host.submit([toSession(result(false))])).toMatchObject([{ outcome: 'duplicate', stored: 'changed' }]);
  });
});

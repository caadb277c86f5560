/** How something ended: exit or signal, who asked for it and why, and where its output is; and no more than is known. */
import { describe, expect, it } from 'vitest';
import type { HostedEnvelope } from '../../../actors/host/outcome.ts';
import { explain } from '../../../inspect/explain/explain.ts';
import type { Explanation } from '../../../inspect/explain/explanation.ts';
import { statusReceipt } from '../../machines/support/evidence.ts';
import {
  assumedGone,
  bound,
  drain,
  gap,
  launch,
  playRun,
  playScope,
  playSession,
  rebooted,
  rootEnded,
  type Told,
  treeEnded,
} from '../../machines/support/play.ts';
import { type Records, sourceOf } from './support/records.ts';

function told(actors: Records['actors'], rest: Omit<Records, 'actors'> = {}): Explanation & { readonly text: string } {
  const [kind, id] = actors[0] as Records['actors'][number];
  const explanation = explain(sourceOf({ actors, ...rest }), kind, id) as Explanation;
  return { ...explanation, text: explanation.sentences.join('\n') };
}

const endedBy = (how: object): Told => ['workload.statusReceipt', { ...statusReceipt('S1'), ...how }];
const failed = endedBy({ code: 3, waitStatus: 768 });
const killed = endedBy({ how: 'signaled', code: null, signal: 9, waitStatus: 9 });

const run = playRun(
  [bound, ['scope.exitProved', { scopeId: 'S1' as never, proofKind: 'own_receipt', proofEventId: 'e' }]],
  {
    rootScopeId: 'S1' as never,
  },
).snapshot;
const ofRun = (story: readonly Told[]): Records['actors'] => [
  ['run', 'R1', run],
  ['executionScope', 'S1', playScope([...launch, ...story]).snapshot],
];
const ofScope = (story: readonly Told[]): Records['actors'] => ofRun(story).toReversed();

/** The journal's entry of an event of scope S1. */
const noted = (type: string, kind: string, payload: object = {}): HostedEnvelope => ({
  ...{ schemaVersion: 1, eventId: type, type, producer: { kind, id: kind }, payload: { ...payload } },
  ...{ actor: { kind: 'executionScope', id: 'S1' }, at: { wallMs: 0, monoMs: 0, bootId: '' as never } },
});
const asked = (cause: string, by: string) => noted('drain.requested', by, { cause });

describe.each([
  ['a run', ofRun],
  ['a scope', ofScope],
])('the end of %s', (_, of) => {
  it('that nobody asked for names exit and output', () => {
    const { text, ending } = told(of([failed, treeEnded]));
    expect(text).toContain('Its root ended: exit 3.');
    expect(text).toContain('Nobody has asked for its end.');
    expect(text).toContain('What it wrote: custody runs logs R1.');
    expect(ending).toEqual({ result: { how: 'exited', exitCode: 3, signal: null, errno: null }, drain: null });
  });

  it('that somebody asked for names the signal, who asked, why and when', () => {
    const { text, ending } = told(of([drain('stop'), killed, treeEnded]), { told: [asked('stop', 'operator')] });
    expect(text).toContain('Its root ended: killed by SIGKILL.');
    expect(text).toContain('because somebody stopped it (stop), by order of operator, at 1970-01-01T00:00:00.000Z.');
    expect(ending).toEqual({
      result: { how: 'signaled', exitCode: null, signal: 9, errno: null },
      drain: { cause: 'stop', by: 'operator', at: '1970-01-01T00:00:00.000Z' },
    });
    expect(told(of([drain('shutdown'), killed])).text).toContain('custody drain, custody daemon stop');
  });

  it('whose root ended by itself is not said to be stopped', () => {
    expect(told(of([rootEnded, drain('natural')])).text).toContain('Nobody stopped it');
  });

  it('of which no status was recorded makes nothing up', () => {
    const { text, ending } = told(of([rebooted]));
    expect(text).toContain('How its root ended is not known');
    expect(ending).toMatchObject({ result: null });
  });

  it('in a terminal sends to what the terminal said', () => {
    const session = playSession([]).snapshot;
    const { text } = told([...of([rootEnded, treeEnded]), ['ptySession', 'P1', session]]);
    expect(text).toContain(`What it wrote: custody sessions tail P1.`);
  });
});

describe('a scope', () => {
  it('that somebody answers for is not also said to be waited for, or assumed by nobody', () => {
    const stalled: Told = ['drain.inspectionFailed', { reasonCode: 'hidden', resumed: 0 }];
    const { text } = told(ofScope([gap('guardian_gone'), drain('stop'), stalled, assumedGone('it was rebuilt')]));
    expect(text).toContain('answers for it that nobody of it is left');
    expect(text).toContain('Nobody has to wait for it any more');
    expect(text).not.toMatch(/Nothing was assumed|asked for again|It waits for one of the three/);
  });

  it('that is proved to be gone is blocked by nothing', () => {
    expect(told(ofScope([rootEnded, treeEnded])).text).not.toContain('Blocked by a guard');
    const never = playScope([['launch.abandoned', { gate: 'never_opened', reason: 'drained' }]]).snapshot;
    expect(told([['executionScope', 'S1', never]]).text).not.toContain('Blocked by a guard');
    expect(told([['executionScope', 'S1', never]]).text).toContain('It never ran.');
  });

  it('whose guardian did not answer says so, and of when the last news of it is', () => {
    const seen = noted('guardian.observed', 'reconciler', { result: 'alive' });
    const { text } = told(ofScope([]), { members: { S1: 'unanswered' }, told: [seen] });
    expect(text).toContain('its guardian did not answer just now, so who is in the tree could not be had');
    expect(text).toContain('the last news of it on record, of 1970-01-01T00:00:00.000Z, is that it was alive');
    expect(told(ofScope([])).text).not.toContain('did not answer');
  });
});

describe('a run that this program has launched', () => {
  it('does not wait for the notes of a launcher', () => {
    const { unblocks } = told([['run', 'R1', playRun([bound]).snapshot]]);
    expect(unblocks.map(({ evidence }) => evidence)).not.toContain('run.placed');
  });
});

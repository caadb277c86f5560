/** What others have launched: a run that is only observed, a scope that was told of afterwards, and one with a controller of its own. */
import type { Payload } from '../../../machines/events/catalogue.ts';
import { identityBound, launchOf, processObserved, runReserved, scopeRequested } from '../evidence.ts';
import { isCancelled, one } from '../facts.ts';
import { runInvariants } from '../invariants/run.ts';
import { orderInvariants, proofInvariants } from '../invariants/scope.ts';
import { type Configuration, type Due, type Invariant, type Records, say, type Word } from '../model.ts';
import { type Forest, forestOf, noTree, reboot, treeMoves } from '../tree.ts';
import { views } from '../views.ts';
import { launchWords, word } from '../words/launching.ts';
import { bootWords, enclosingWords, receiptWords } from '../words/proving.ts';
import { assumptionWords, drainWords, externalWords, guardianWords } from '../words/watching.ts';

const theirs = launchOf('S3', 3);
const controlled = launchOf('S4', 4);
const job = launchOf('S9', 9).workload;

const reported = (label: string) =>
  say('R3', 'reservation.reported', { label, retryOf: null } as Payload<'reservation.reported'>);

const reportDue =
  (label: string) =>
  (records: Records): Due => {
    const run = one(records, 'run', 'R3');
    if (run === null || run.context.gaps.includes('reserve_missing')) return 'accepted';
    return run.context.label === label ? 'accepted' : 'refused';
  };

const runWords: readonly Word<Forest>[] = [
  word('R3: reservation reported', reported('one'), { by: 'adapter', due: reportDue('one') }),
  word('R3: another reservation reported', reported('another'), { by: 'adapter', due: reportDue('another') }),
  // A managed run was reserved by this program, and nobody tells it what it knows.
  word('R4: reservation reported', { ...reported('none'), to: 'R4' }, { by: 'adapter', due: 'refused' }),
  word('R4: the same reservation reported', say('R4', 'reservation.reported', { label: null, retryOf: null }), {
    by: 'adapter',
    due: 'refused',
  }),
  word('R4: placed', say('R4', 'run.placed', { generationId: 'W9' }), { by: 'adapter', due: 'refused' }),
  word('R3: bound', say('R3', 'identity.bound', identityBound(job)), { by: 'adapter' }),
  word('R3: seen ended', say('R3', 'process.observed', processObserved(job, 'ended')), { by: 'observer' }),
  word('R3: seen alive', say('R3', 'process.observed', processObserved(job, 'alive')), { by: 'observer' }),
  // An observed run has no gate, and so nothing can be known of one (INT-02).
  ...['S3', 'S9'].map((scopeId) =>
    word<Forest>(
      `R3: cancelled by the gate of ${scopeId}`,
      say('R3', 'admission.cancelled', { gate: 'never_opened', scopeId, proofEventId: 'e' }),
      { by: 'forger', due: 'refused' },
    ),
  ),
];

const ofScope = (words: readonly Word<Forest>[]): readonly Word<Forest>[] =>
  words.filter(({ name }) => !/not started|may not have|without|inferred|survivors|of another (file|boot)/.test(name));

export const observedRun: Configuration<Forest> = {
  name: 'observed-run',
  title: 'runs and scopes that somebody else has launched',
  bounds: ['two scopes of others and one run; what they really do is not asked, because nothing here may depend on it'],
  cast: [
    { id: 'S3', kind: 'executionScope', input: scopeRequested('S3', { kind: 'external' }) },
    { id: 'S4', kind: 'executionScope', input: scopeRequested('S4', { kind: 'external', controller: 'launcher' }) },
    {
      id: 'R3',
      kind: 'run',
      input: runReserved('R3', {
        ...{ mode: 'observe', origin: 'observed', rootScopeId: 'S3' },
        gaps: ['reserve_missing'],
      }),
    },
    { id: 'R4', kind: 'run', input: runReserved('R4') },
  ],
  truth: {
    ...forestOf('S4'),
    trees: { S3: { ...noTree, root: 'alive', ran: true }, S4: { ...noTree, root: 'alive', ran: true } },
  },
  moves: [...treeMoves<Forest>({ scopeId: 'S3' }).filter(({ name }) => /ends$/.test(name)), reboot<Forest>()],
  words: [
    ...runWords,
    ...[theirs, controlled].flatMap((launch) => {
      const { scopeId } = launch;
      const words = [
        ...launchWords<Forest>({ launch }),
        ...externalWords<Forest>(scopeId),
        ...receiptWords<Forest>(launch),
        ...bootWords<Forest>(scopeId),
        ...enclosingWords<Forest>({ scopeId, enclosingId: 'S0', isReceiptThere: () => true }),
        ...guardianWords<Forest>(scopeId),
        ...assumptionWords<Forest>(scopeId),
        ...drainWords<Forest>(scopeId),
      ];
      // The second differs in who may end it and answer for it, and in nothing else.
      return scopeId === 'S3'
        ? ofScope(words)
        : words.filter(({ name }) => /externally|assumed|drain, stop/.test(name));
    }),
  ],
  invariants: [
    ...(proofInvariants as readonly Invariant<Forest>[]),
    ...(orderInvariants as readonly Invariant<Forest>[]),
    ...(runInvariants as readonly Invariant<Forest>[]),
    {
      id: 'I-21',
      title: 'nothing is done about what others have launched and control: no drain, no gate, no launch',
      holds: ({ outbox }) =>
        ![...outbox].some((effect) => effect.endsWith(' S4') || /^(launchScope|openGate) S3/.test(effect)),
    },
    {
      id: 'INT-02',
      title: 'an observed run is never cancelled',
      holds: (records) => {
        const run = one(records, 'run', 'R3');
        return run === null || !isCancelled(run);
      },
    },
  ],
  views,
};

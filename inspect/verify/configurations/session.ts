/** A terminal with an agent in it: its scope, its run, its capture, its clocks and the people who type and stop. */
import { launchOf, runReserved, scopeRequested } from '../evidence.ts';
import { isGuardianLost, one, regionOf } from '../facts.ts';
import { runInvariants, runScopeInvariants } from '../invariants/run.ts';
import { orderInvariants, proofInvariants } from '../invariants/scope.ts';
import { sessionInvariants, sessionScopeInvariants } from '../invariants/session.ts';
import { treeInvariants } from '../invariants/truth.ts';
import type { Configuration, Invariant } from '../model.ts';
import { type Forest, forestOf, reboot, treeMoves, treeOf } from '../tree.ts';
import { views } from '../views.ts';
import { launchWords } from '../words/launching.ts';
import { bootWords, receiptWords } from '../words/proving.ts';
import { opened, sessionWords } from '../words/session.ts';
import { drainWords, guardianWords } from '../words/watching.ts';

const launch = launchOf('S1', 1);
const essential =
  /prepared|attached|bound and released|abandoned|not started|receipt(, never released)?$|another boot|absent|guardian unseen|partial|drain, stop|cannot look/;

const base: Configuration<Forest> = {
  name: 'session',
  title: 'a terminal session with its scope and its run',
  bounds: [
    'one session; output is reported once, and input is asked for once',
    'nobody leaves the session of the root; looks at processes are those of run-and-scope',
  ],
  cast: [
    { id: 'S1', kind: 'executionScope', input: scopeRequested('S1', { runId: 'R1' }) },
    { id: 'R1', kind: 'run', input: runReserved('R1', { rootScopeId: 'S1' }) },
    { id: 'P1', kind: 'ptySession', input: opened },
  ],
  truth: forestOf('S1'),
  moves: [...treeMoves<Forest>({ scopeId: 'S1', canEscape: false }), reboot<Forest>()],
  words: [
    ...[
      ...launchWords<Forest>({ launch, runId: 'R1' }),
      ...receiptWords<Forest>(launch),
      ...bootWords<Forest>('S1'),
      ...guardianWords<Forest>('S1'),
      ...drainWords<Forest>('S1'),
    ].filter(({ name }) => essential.test(name)),
    ...sessionWords<Forest>(launch),
  ],
  invariants: [
    ...(proofInvariants as readonly Invariant<Forest>[]),
    ...(orderInvariants as readonly Invariant<Forest>[]),
    ...(runInvariants as readonly Invariant<Forest>[]),
    ...(runScopeInvariants as readonly Invariant<Forest>[]),
    ...(sessionInvariants as readonly Invariant<Forest>[]),
    ...(sessionScopeInvariants as readonly Invariant<Forest>[]),
    ...treeInvariants<Forest>({ scopeId: 'S1', runId: 'R1' }),
  ],
  prospects: [
    {
      id: 'L-15',
      title: 'a session that is ending can still become final or indeterminate, if its guardian is not killed',
      from: (records, truth) => {
        const session = one(records, 'ptySession', 'P1');
        const scope = one(records, 'executionScope', 'S1');
        const { guardian, exitReceipt } = treeOf(truth, 'S1');
        const isKilled = guardian === 'dead' && !exitReceipt;
        return (
          session !== null &&
          scope !== null &&
          regionOf(session, 'workload') === 'ending' &&
          !isGuardianLost(scope) &&
          !isKilled
        );
      },
      to: (records) => {
        const session = one(records, 'ptySession', 'P1');
        return session !== null && ['final', 'indeterminate'].includes(regionOf(session, 'workload'));
      },
      without: ['the machine restarts', 'S1: the guardian is killed', 'S1: another boot'],
    },
  ],
  views,
};

export const session = base;

export const unrecordedSession: Configuration<Forest> = {
  ...base,
  name: 'unrecorded-session',
  title: 'a terminal of which by choice nothing is kept, whose tree may outlive its agent',
  cast: [
    { id: 'S1', kind: 'executionScope', input: scopeRequested('S1', { runId: 'R1', onRootExit: 'wait' }) },
    { id: 'R1', kind: 'run', input: runReserved('R1', { rootScopeId: 'S1' }) },
    { id: 'P1', kind: 'ptySession', input: { ...opened, recorded: false } },
  ],
  words: base.words.filter(({ name }) => !/deadline, armed|input/.test(name)),
};

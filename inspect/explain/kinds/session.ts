/** Why a session does not move: its agent, what is read of its terminal, and its tree are three affairs (PTY-01). */
import { armedDeadlines, isInterrupted } from '../../../machines/ptySession.ts';
import { resultInWords } from '../../../machines/resultWords.ts';
import { standingInWords, standingOf } from '../scopes.ts';
import type { About, Subject } from '../subject.ts';
import { inWords, listed } from '../words.ts';

type Session = Subject<'ptySession'>;

export function aboutSession(session: Session): About {
  const { id, snapshot } = session;
  const { runId, cols, rows } = snapshot.context;
  return {
    what: `Session ${id} is the terminal of run ${runId} (${cols}×${rows}).`,
    waitsFor: [...ofAgent(session), ...ofCapture(session), ...ofScope(session)],
    helps: [
      'session.inputSent',
      'launch.releaseCommitted',
      'launch.failed',
      'result.reported',
      'workload.statusReceipt',
      'workload.endedWithoutStatus',
      'capture.drainStarted',
      'capture.finished',
      'scope.exitProved',
    ],
    facts: facts(session),
  };
}

function ofAgent(session: Session): readonly string[] {
  const { snapshot, id } = session;
  if (snapshot.matches({ workload: 'launching' }))
    return ['It waits for the release of its gate; the agent has not begun.'];
  if (snapshot.matches({ workload: { running: 'needsInput' } }))
    return [
      `It waits for a person: its agent has asked for somebody${askedFor(session)}. Input leads on (custody sessions attach ${id}, custody sessions send ${id} TEXT --enter), and so does further output.`,
    ];
  if (snapshot.matches({ workload: 'running' }))
    return [
      'It waits for its agent, which works or is taken to; it ends by itself, by its result, or by being asked to.',
    ];
  if (snapshot.matches({ workload: 'ending' }))
    return ['It is being ended and waits for the status of its agent, or for the certainty that none will come.'];
  return [];
}

/** The reason that the agent gave last, which the journal alone keeps. */
function askedFor({ source, id }: Session): string {
  const [entry] = source.journal.page({
    actor: { kind: 'ptySession', id },
    type: 'session.inputNeeded',
    newestFirst: true,
    limit: 1,
  });
  if (entry?.intact !== true) return '';
  const { reasonCode } = (entry.envelope as { readonly payload: { readonly reasonCode?: unknown } }).payload;
  return typeof reasonCode === 'string' ? ` (${inWords(reasonCode)})` : '';
}

function ofCapture({ snapshot }: Session): readonly string[] {
  if (snapshot.matches({ capture: 'draining' }))
    return ['What is left in its terminal is being read, for a bounded time.'];
  const isOver = snapshot.matches({ workload: 'final' }) || snapshot.matches({ workload: 'indeterminate' });
  return isOver && snapshot.matches({ capture: 'capturing' })
    ? ['It waits for the process that holds the terminal to say that the agent has nothing more to say.']
    : [];
}

function ofScope({ snapshot, source }: Session): readonly string[] {
  if (snapshot.matches({ scope: 'proved' })) return [];
  const { scopeId } = snapshot.context;
  const standing = standingOf(source, scopeId);
  const words = standing === undefined ? `scope ${scopeId} is not on record` : standingInWords(standing);
  return [`It is settled once nobody of its tree remains: ${words} (custody explain ${scopeId}).`];
}

function facts({ snapshot }: Session): readonly string[] {
  const { firstFailure, faults, structured, status, capture, recorded } = snapshot.context;
  const told: string[] = [];
  const limits = armedDeadlines(snapshot).map(({ kind }) => kind);
  if (limits.length > 0)
    told.push(`It is limited in time: ${listed(limits)}; a deadline asks for its end and proves nothing.`);
  if (status !== null) told.push(`Its agent ended: ${resultInWords(status)}.`);
  const failures = [...(firstFailure === null ? [] : [firstFailure]), ...faults];
  const stops = failures.filter(({ cause }) => cause === 'stop').map(({ reason }) => inWords(reason));
  const wrong = failures
    .filter(({ cause }) => cause !== 'stop')
    .map(({ cause, reason }) => `${inWords(cause)} (${inWords(reason)})`);
  if (stops.length > 0) told.push(`Its end was asked for (${listed(stops)}).`);
  if (wrong.length > 0) told.push(`What went wrong, in its order: ${listed(wrong)}.`);
  if (structured !== null) told.push('Its agent has reported a result.');
  if (isInterrupted(snapshot)) told.push('Its work counts as interrupted.');
  if (capture?.fault) told.push(`Of its transcript something is missing (${inWords(capture.fault)}).`);
  if (!recorded) told.push('By choice nothing of what it says is kept.');
  return told;
}

/** Why no worker is launched: who has to be proved to be gone first, and what the last attempt ran into. */
import { standingInWords, standingOf } from '../scopes.ts';
import type { About, Subject } from '../subject.ts';
import { inWords, listed } from '../words.ts';

type Fence = Subject<'recoveryFence'>;

export function aboutFence(fence: Fence): About {
  return {
    what: `Recovery fence ${fence.id} orders how the scheduling worker of this installation is replaced.`,
    waitsFor: waits(fence),
    helps: [
      'worker.scopeSettled',
      'ownership.rescanned',
      'replacement.launched',
      'scheduler.tick',
      'recovery.started',
      'recovery.retry',
    ],
    facts: facts(fence),
  };
}

function waits(fence: Fence): readonly string[] {
  const { snapshot } = fence;
  const { old, replacement } = snapshot.context;
  if (snapshot.matches('idle')) return [];
  if (snapshot.matches('stoppingOld'))
    return [`It waits for proof that nobody of the old worker remains: ${scopeOf(fence, old?.scopeId)}.`];
  if (snapshot.matches('rescanning'))
    return ['It waits for the recovery to have looked at everything that earlier workers launched.'];
  if (snapshot.matches('launchPermitted'))
    return ['Everybody is proved to be gone; it waits for the recovery to launch a worker, as soon as one is wanted.'];
  if (snapshot.matches('awaitingTick'))
    return [
      `It waits for the first tick of replacement ${replacement?.incarnationId ?? 'that was launched'}; nothing else makes it the worker.`,
    ];
  return [...inTheWay(fence), retry(fence)];
}

const scopeOf = ({ source }: Fence, scopeId: string | undefined): string => {
  const standing = scopeId === undefined ? undefined : standingOf(source, scopeId);
  return standing === undefined
    ? `scope ${scopeId ?? 'of the old worker'} is not on record`
    : `${standingInWords(standing)} (custody explain ${scopeId})`;
};

/** As the last attempt named them, and as they stand now. */
function inTheWay(fence: Fence): readonly string[] {
  const { old, evidence } = fence.snapshot.context;
  const ofOld = old === null || old.settledBy !== null ? [] : [old.scopeId];
  const scopeIds = [...new Set([...ofOld, ...(evidence.at(-1)?.scopeIds ?? [])])];
  return scopeIds.map(
    (scopeId) => `It was refused because of somebody of an earlier worker: ${scopeOf(fence, scopeId)}.`,
  );
}

function retry({ snapshot }: Fence): string {
  const { retryAt, attempts } = snapshot.context;
  const byItself = retryAt === null ? '' : ', which comes by itself,';
  return `It waits for another attempt${byItself} or for an operator who asks for one (custody recover --now); so far there were ${attempts}.`;
}

function facts({ snapshot }: Fence): readonly string[] {
  const { reason, evidence } = snapshot.context;
  const told: string[] = [];
  if (reason !== null && !snapshot.matches('idle')) told.push(`Why the recovery began: ${inWords(reason)}.`);
  if (evidence.length > 0)
    told.push(
      `What came in its way: ${listed(evidence.map((trouble) => `${inWords(trouble.phase)}: ${inWords(trouble.reason)}`))}.`,
    );
  return told;
}

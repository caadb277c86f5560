/** The words for assessments, results and health that every command uses alike. */

import type { AssessmentView, HealthView, RunView } from '../../actors/daemon/api/views.ts';
import { resultInWords } from '../../machines/resultWords.ts';
import { line } from './escape.ts';
import type { Style } from './style.ts';
import type { Cell } from './table.ts';

/** The proofs of OWN-05, and the case in which nothing was ever let run. */
const proofWords: Readonly<Record<string, string>> = {
  own_receipt: 'own receipt',
  enclosing_receipt: 'enclosing receipt',
  boot_epoch: 'boot changed',
  never_launched: 'never launched',
};

/** `live`, `proved (own receipt)`, `UNVERIFIED gap: guardian gone`. */
export function assessment(view: AssessmentView | null, style: Style): Cell {
  if (view === null) return { text: '-', paint: style.dim };
  if (view.state === 'live') return { text: 'live', paint: style.green };
  if (view.state === 'exited')
    return { text: `proved (${spaced(proofWords[view.proof] ?? view.proof)})`, paint: style.dim };
  if (view.assumed) return { text: `ASSUMED, not proved: ${spaced(view.reason)}`, paint: style.yellow };
  return { text: `UNVERIFIED ${view.certainty}: ${spaced(view.reason)}`, paint: style.red };
}

/** What a run is doing, in the word that `summary` uses as well: its chart says "bound" for what people call running. */
export const runState = (state: string): string => (state === 'bound' ? 'running' : spaced(state));

/** What the assessment alone does not say; where it says everything, nothing. */
export const more = (view: AssessmentView | null, summary: string): string => (view?.state === 'live' ? summary : '');

/** `exit 7`, `killed by SIGKILL`, `could not be executed (ENOENT)`. */
export const result = (view: RunView['result']): string => (view === null ? '-' : resultInWords(view));

export function health(view: HealthView, style: Style): Cell {
  const paint = view.state === 'ok' ? style.green : view.state === 'unresponsive' ? style.yellow : style.red;
  return { text: spaced(view.state), paint };
}

/** Why it is not well, and what to do about it. */
export function findings(view: HealthView, style: Style): string[] {
  const said = new Set(view.reasons.flatMap(({ next }) => next));
  return [
    ...view.reasons.flatMap(({ code, scopeId, detail, next }) => [
      line`  ${spaced(code)}: ${scopeId === undefined || detail.includes(scopeId) ? '' : `${scopeId} `}${detail}`,
      ...next.map((command) => style.dim(line`    try: ${command}`)),
    ]),
    ...view.next.filter((command) => !said.has(command)).map((command) => style.dim(line`  try: ${command}`)),
  ];
}

/** Codes are snake_case on the wire and words on the screen. */
export const spaced = (code: string): string => code.replaceAll('_', ' ');

/** `drainBlocked`, `awaitingTick`: states of a chart as people say them. */
export const stateInWords = (state: string): string => state.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** `custody` alone: where the state is and the first few commands; the full list is one word away. */
import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { readRendezvous } from '../actors/runtime/places.ts';
import { globalsOf } from './action.ts';
import { Invocation, localAnswer } from './invocation.ts';
import { line } from './print/escape.ts';
import { fields, table } from './print/table.ts';
import { version } from './version.ts';

/** A line of an ordinary terminal each. */
const firstSteps: readonly (readonly [string, string])[] = [
  ['custody demo', 'see it at work; leaves nothing behind'],
  ['custody init', 'set up, and check this host'],
  ['custody goals add TITLE --request FILE', 'say what should be done'],
  ['custody worktrees add GOAL', 'make a place to do it in'],
  ['custody runs exec GOAL -- CMD...', 'run something under a guardian'],
  ['custody runs exec GOAL --pty -- CMD...', 'the same in a terminal of its own'],
  ['custody sessions attach SESSION', 'look and type; ctrl-] d leaves again'],
  ['custody status', 'what runs, what is proved, what is not'],
  ['custody help', 'every command'],
];

/** commander would call a bare word an error; it is a question. Nothing is started or created to answer it. */
export function showOverview(program: Command): number {
  const invocation = new Invocation(globalsOf(program));
  const { stateDir } = invocation.places;
  const announced = readRendezvous(invocation.places);
  const data = { version, stateDir, initialised: existsSync(stateDir), announcedDaemonPid: announced?.pid ?? null };
  return invocation.output.answer(localAnswer('overview', data), (_, style) => [
    line`custody ${version}: runs work under guardians and proves what became of it`,
    '',
    ...fields([['state', data.initialised ? stateDir : `${stateDir} (not created yet: custody init)`]], style),
    '',
    ...table({ heading: ['first steps', ''], rows: firstSteps, empty: '', style }),
  ]);
}

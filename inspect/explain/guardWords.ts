/** What a guard that refuses wants, in words. */
import type { ActorKind } from '../../machines/ids.ts';
import { inWords } from './words.ts';

/** `name` as guards are named where they refuse: `hasAuthoredRound`, `not isOldSettled`, `in coverage.live`. */
export function guardInWords(_kind: ActorKind, name: string): string {
  if (name.startsWith('not ')) return `it must not be that "${inWords(name.slice(4))}"`;
  if (name.startsWith('in ')) return `it would have to be ${name}`;
  return `it must be that "${inWords(name)}"`;
}

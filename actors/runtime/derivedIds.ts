/** Ids that follow from what they name, so that whoever repeats the same thing names the same actor. */
import { hash } from 'node:crypto';

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

export interface IdRequest {
  /** What kind of actor it is for a reader: G, R, W, S, … */
  readonly letter: string;
  /** Five bits each, at most 32. */
  readonly digits: number;
  /** What it names; none of them holds a NUL. */
  readonly of: readonly string[];
}

export function derivedId<Id extends string>({ letter, digits, of }: IdRequest): Id {
  const digest = hash('sha256', of.join('\0'), 'hex');
  let id = letter;
  for (let at = 0; at < digits; at += 1) id += alphabet[Number.parseInt(digest.slice(2 * at, 2 * at + 2), 16) & 31];
  return id as Id;
}

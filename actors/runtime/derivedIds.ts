/** Ids that follow from what they name, so that whoever repeats the same thing names the same actor. */
import { createHash } from 'node:crypto';

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
  const digest = createHash('sha256').update(of.join('\0')).digest();
  return (letter + Array.from(digest.subarray(0, digits), (byte) => alphabet[byte & 31]).join('')) as Id;
}

/** Opaque ids: a kind letter and ten characters (50 bits) of Crockford base32, short enough to read aloud. */
import { randomBytes } from 'node:crypto';

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

export function newId<Id extends string>(letter: 'G' | 'R' | 'W' | 'S' | 'P'): Id {
  let id: string = letter;
  for (const byte of randomBytes(10)) id += alphabet[byte & 31];
  return id as Id;
}

/**
 * The stop that an operator has asked for, as a row: a daemon that is killed in the middle of it has a successor that
 * takes it up again (SHUT-10). It is removed when everything is proved, when the operator gives it up, and when the daemon
 * is told to leave its work alone.
 */
import { z } from 'zod';
import type { Store } from '../../../persistence/store.ts';
import type { ShutdownIntent } from '../root.ts';

type Rows = Pick<Store, 'meta' | 'write'>;

const row = 'shutdown.intent';
const schema = z.strictObject({ verb: z.enum(['stop', 'restart']), via: z.enum(['direct', 'service']) });

export const recordIntent = ({ meta, write }: Rows, intent: ShutdownIntent): void =>
  write(() => meta.set(row, JSON.stringify(intent)));

export function forgetIntent({ meta, write }: Rows): void {
  if (meta.get(row) !== undefined) write(() => meta.remove(row));
}

/** Undefined where none is open. Throws for a row that this program has not written. */
export function openIntent({ meta }: Pick<Rows, 'meta'>): ShutdownIntent | undefined {
  const text = meta.get(row);
  return text === undefined ? undefined : schema.parse(JSON.parse(text));
}

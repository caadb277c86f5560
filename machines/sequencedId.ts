/**
 * Event ids of what has no key of its own: observations, orders that are repeated (ruling 2). A start of the daemon is the
 * producer; epoch and start number in the id say which one, and the last number orders what that start produced. Whoever
 * has such an id from a start that is over can only repeat it, which is what makes a horizon possible (RET-03).
 */
export interface Start {
  readonly epoch: number;
  readonly startNumber: number;
}

export const sequencedId = (what: string, { epoch, startNumber }: Start, sequence: number): string =>
  `${what}:${epoch}.${startNumber}.${sequence}`;

/** A word, perhaps the id of an actor, and the three numbers; ids that begin with the installation's are other ones. */
const pattern = /^[a-z][A-Za-z.]*(?::[A-Z][0-9a-z]*)?:(\d{1,15})\.(\d{1,15})\.\d{1,15}$/;

/** The start that produced the id; undefined for every other kind of id. */
export function startOf(eventId: string): Start | undefined {
  const found = pattern.exec(eventId);
  return found === null ? undefined : { epoch: Number(found[1]), startNumber: Number(found[2]) };
}

export const isBefore = (one: Start, other: Start): boolean =>
  one.epoch < other.epoch || (one.epoch === other.epoch && one.startNumber < other.startNumber);

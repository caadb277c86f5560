/** How the facts of a prediction are compared and worded. */
import type { PredictedFactView } from '../api/views.ts';

export type Fact = PredictedFactView;

const isLook = (evidenceId: string): boolean => evidenceId.startsWith('look:');

/** What a fact is about: equal for the same fact however often it is seen. */
export const subjectOf = ({ code, evidenceIds }: Pick<Fact, 'code' | 'evidenceIds'>): string =>
  JSON.stringify([code, ...evidenceIds.filter((id) => !isLook(id)).toSorted()]);

/** Text that somebody else chose, for a sentence: bounded, and escaped as JSON does it. */
export const quoted = (text: string): string => JSON.stringify(text.length > 120 ? `${text.slice(0, 120)}…` : text);

export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

/** Examples that are shown of something that there may be very many of. */
export const mostNamed = 10;

/**
 * Private files of sessions: a schema is there from the launch on, and each result under its digest, so that a later one,
 * which does not count, leaves the file of the one that does as it is (PTY-06).
 */
import { join } from 'node:path';
import type { Places } from '../../runtime/places.ts';

type Place = { readonly places: Pick<Places, 'stateDir'> };

const resultsDir = ({ places }: Place): string => join(places.stateDir, 'results');

export const schemaFile = (place: Place, sessionId: string): string =>
  join(resultsDir(place), `${sessionId}.schema.json`);

export const resultFile = (place: Place, sessionId: string, digest: string): string =>
  join(resultsDir(place), `${sessionId}.${digest}.json`);

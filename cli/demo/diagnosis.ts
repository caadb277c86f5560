/** What the demonstration's daemon complained of: its log goes with the directory, so a failure takes the lines along. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { OperatingError } from '../../actors/runtime/operatingError.ts';
import { failureOf } from '../failure.ts';
import type { Scratch } from './scratch.ts';

const mostLines = 5;
/** pino's number for `error`. */
const errorLevel = 50;

/** The failure as it is reported, with the last complaints of the daemon's log if there are any. */
export function withComplaints(cause: unknown, { places }: Scratch): OperatingError {
  const failure = failureOf(cause);
  const daemonLog = complaintsIn(join(places.logDir, 'daemon.log'));
  const details = daemonLog.length === 0 ? {} : { details: { ...failure.details, daemonLog } };
  return new OperatingError({ ...failure, ...details }, cause);
}

function complaintsIn(path: string): string[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return [];
  }
  return text
    .split('\n')
    .filter((entry) => levelOf(entry) >= errorLevel)
    .slice(-mostLines);
}

function levelOf(entry: string): number {
  try {
    return (JSON.parse(entry) as { readonly level: number }).level;
  } catch {
    return 0;
  }
}

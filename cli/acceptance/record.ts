/** Offers a report to the installation of whoever called, where there is one. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { AcceptanceReport } from '../../actors/promotion/acceptanceReport.ts';
import type { Places } from '../../actors/runtime/places.ts';
import { ensureServing } from '../autostart.ts';
import { failureOf, fromApi } from '../failure.ts';

export interface Offered {
  readonly isRecorded: boolean;
  readonly warnings: readonly string[];
  /** 0, or that of the refusal. */
  readonly exitCode: number;
}

/** A report that took minutes is shown all the same when nobody keeps it, with why. Never rejects. */
export async function offered(recorded: Promise<boolean>): Promise<Offered> {
  try {
    const isRecorded = await recorded;
    return { isRecorded, warnings: isRecorded ? [] : ['not recorded: there is no installation'], exitCode: 0 };
  } catch (cause) {
    const { code, message, exitCode } = failureOf(cause);
    return { isRecorded: false, warnings: [`not recorded: ${message} (${code})`], exitCode };
  }
}

/** Whether it was recorded; false where there is no installation. Throws what the daemon refuses. */
export async function record(places: Places, report: AcceptanceReport): Promise<boolean> {
  if (!existsSync(join(places.stateDir, 'custody.db'))) return false;
  const { client } = await ensureServing(places);
  const reply = await client.call('acceptance.record', { report } as object);
  if (!reply.ok) throw fromApi(reply.error);
  return true;
}

/** Offers a report to the installation of whoever called, where there is one. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { AcceptanceReport } from '../../actors/promotion/acceptanceReport.ts';
import type { Places } from '../../actors/runtime/places.ts';
import { ensureServing } from '../autostart.ts';
import { fromApi } from '../failure.ts';

/** Whether it was recorded; false where there is no installation. Throws what the daemon refuses. */
export async function record(places: Places, report: AcceptanceReport): Promise<boolean> {
  if (!existsSync(join(places.stateDir, 'custody.db'))) return false;
  const { client } = await ensureServing(places);
  const reply = await client.call('acceptance.record', { report } as object);
  if (!reply.ok) throw fromApi(reply.error);
  return true;
}

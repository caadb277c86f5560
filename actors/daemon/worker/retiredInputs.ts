/**
 * Files with which earlier programs of this kind coordinated and cancelled work: they are removed by their exact names and
 * never read (REC-10). What they might say is no evidence, and what has another name is not ours.
 */
import { lstatSync, readdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Runtime } from '../../runtime/runtime.ts';

const retired: readonly RegExp[] = [
  /^execution-coordination(-[A-Za-z0-9]{1,64})?\.json$/,
  /^cancellation-journal(-[A-Za-z0-9]{1,64})?\.jsonl$/,
];

/** The names that were removed. Links are left alone: they lead to what somebody else keeps. */
export function removeRetiredInputs({ places, log }: Pick<Runtime, 'places' | 'log'>): readonly string[] {
  const removed: string[] = [];
  for (const name of readdirSync(places.runDir)) {
    if (!retired.some((pattern) => pattern.test(name))) continue;
    const path = join(places.runDir, name);
    if (!lstatSync(path, { throwIfNoEntry: false })?.isFile()) continue;
    unlinkSync(path);
    removed.push(name);
    log.info({ code: 'retired_input_removed', name }, 'a file of an earlier program was removed unread');
  }
  return removed;
}

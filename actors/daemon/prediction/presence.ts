/**
 * Who is in a directory at this moment, of all processes that this user may look into. A look and no proof: that nobody was
 * seen is said together with when, and never that there is nobody (OBS-09).
 */
import { setImmediate } from 'node:timers/promises';
import type { Occupants } from '../../observe/linux/occupants.ts';
import { everyActor } from '../../runtime/actorAccess.ts';
import type { HolderView, PredictionView } from '../api/views.ts';
import type { DaemonContext } from '../context.ts';
import { counted, type Fact } from './fact.ts';

export interface Presence {
  readonly facts: readonly Fact[];
  readonly view: PredictionView['processes'];
}

/** Of a machine with more, the rest counts as not looked into. */
const mostProcesses = 20_000;
const budgetMs = 5_000;
/** Nobody else is kept waiting for longer. */
const sliceMs = 10;
const mostNamed = 32;

/** `directory` without symbolic links; `look` is the evidence id. */
export async function lookForProcesses(context: DaemonContext, directory: string, look: string): Promise<Presence> {
  const { wallMs } = context.clock.now();
  const { occupants, looked, unseen } = await surveyed(context, directory);
  const at = new Date(wallMs).toISOString();
  const own = process.getuid!();
  const unseenOwn = unseen.filter(({ uid }) => uid === own);
  const unseenOthers = unseen.filter(({ uid }) => uid !== own).length;
  const holders = occupants.map(({ process: { pid }, holds }) => ({ ...named(context, pid), holds }));
  const facts: Fact[] = [];
  if (holders.length > 0) {
    const who = counted(holders.length, 'process was', 'processes were');
    facts.push({
      code: 'process_present',
      detail: `${who} seen in it at ${at}`,
      evidenceIds: [look],
      holders: holders.slice(0, mostNamed),
      count: holders.length,
    });
  }
  if (unseenOwn.length > 0)
    facts.push({
      code: 'processes_unseen',
      detail: `${counted(unseenOwn.length, 'process', 'processes')} of this user could not be looked into`,
      evidenceIds: [look],
      holders: unseenOwn.slice(0, mostNamed).map(({ pid }) => named(context, pid)),
      count: unseenOwn.length,
    });
  const who = holders.length > 0 ? `${holders.length} seen` : 'nobody was seen';
  const statement = `${who} at ${at}, of ${looked} processes`;
  return { facts, view: { looked, unseenOwn: unseenOwn.length, unseenOthers, statement } };
}

async function surveyed(context: DaemonContext, directory: string): Promise<Occupants> {
  const { adapter, clock } = context;
  const sparing = guardiansOf(context);
  const steps = adapter.occupantsBelow({ directory, most: mostProcesses, budgetMs, sparing });
  for (let until = clock.monoMs() + sliceMs; ; ) {
    const step = steps.next();
    if (step.done) return step.value;
    if (clock.monoMs() < until) continue;
    await setImmediate();
    until = clock.monoMs() + sliceMs;
  }
}

function named({ adapter }: DaemonContext, pid: number): HolderView {
  const name = adapter.nameOf(pid);
  return name === undefined ? { pid } : { pid, name };
}

/** They let nobody but root look into them, and need not be: the scopes that they hold are looked at themselves. */
function* guardiansOf({ host }: DaemonContext): Generator<number> {
  for (const { snapshot } of everyActor(host, 'executionScope', { released: false })) {
    if (snapshot !== 'corrupt' && snapshot.context.guardian !== null) yield snapshot.context.guardian.pid;
  }
}

/** Descendants that leave the family of their root, as daemons do. */
import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  type Bench,
  controlOf,
  drainBudgetMs,
  launchedSilently,
  launchedTalking,
  receipt,
  rootEnded,
  shell,
} from '../bench.ts';

/** The root leaves at once; the escapee stays until the guardian ends it, and not for ever if this process dies first. */
export async function escapee(bench: Bench): Promise<string | null> {
  await mkdir(bench.directory, { mode: 0o700 });
  const script = 'mkfifo up; setsid sh -c "trap \'\' HUP; echo > up; exec sleep 60" & read x < up; exit 0';
  const launch = await launchedSilently(bench, shell(script));
  await launch.openGate();
  const client = await controlOf(bench);
  await rootEnded(client);
  const early = await holdsReceipt(bench, (await client.members()).total);
  let settled = false;
  for await (const { event } of client.terminate({ graceMs: 0, budgetMs: drainBudgetMs }))
    settled ||= event === 'settled';
  await launch.exited;
  if (early !== null) return early;
  const exit = await receipt(bench.directory, 'exit');
  return settled && exit !== undefined ? null : 'termination did not end in an exit receipt';
}

/**
 * Two forks and a session of its own, and no descriptor left: nothing that the root was given shows that somebody is
 * there. Its parent has been reaped before anybody looks. It ends when something comes out of the fifo that it reads.
 */
export async function daemonised(bench: Bench): Promise<string | null> {
  await mkdir(bench.directory, { mode: 0o700 });
  const path = join(bench.directory, 'hold');
  await promisify(execFile)('mkfifo', [path]);
  // Opened for both ways, which waits for nobody (fifo(7)). Whoever reads from it ends when this process does.
  const hold = await open(path, constants.O_RDWR | constants.O_NONBLOCK);
  bench.atEnd(() => hold.close());
  const daemon = `trap "" HUP; echo up; exec <&- >&- 2>&-; read x < hold`;
  const script = `setsid sh -c '(${daemon}) & exit 0' & wait $!; exit 0`;
  const { launch, talk } = await launchedTalking(bench, shell(script));
  await launch.openGate();
  await talk.heard('up');
  await talk.ended;
  const client = await controlOf(bench);
  await rootEnded(client);
  const early = await holdsReceipt(bench, (await client.members()).total);
  if (early !== null) return early;
  await hold.write('\n');
  const { code } = await launch.exited;
  const exit = await receipt(bench.directory, 'exit');
  if (code !== 0 || exit === undefined) return 'no exit receipt followed its end';
  return exit.adopted > 0 ? null : 'the exit receipt does not count it';
}

/** Somebody is still there, so the guardian must see it and must not have claimed the opposite. */
async function holdsReceipt({ directory }: Bench, members: number): Promise<string | null> {
  if (members === 0) return 'the escapee is not seen by the guardian';
  return (await receipt(directory, 'exit')) === undefined ? null : 'the exit receipt came while the escapee was alive';
}

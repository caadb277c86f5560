/** Trees that do not leave when they are asked. */
import { type Bench, controlOf, launchedTalking, receipt, shell, type Talking, terminated } from '../bench.ts';

/** Asked first, and killed when the grace is over. */
export async function ignoresTerm(bench: Bench): Promise<string | null> {
  // A read that is interrupted ends; there are more of them than there are signals and lines.
  const script = `trap 'echo asked' TERM; echo up; ${'read x; '.repeat(8)}`;
  return drained(bench, await up(bench, script), { graceMs: 100, asked: true });
}

/** A stopped process cannot end by itself, and SIGTERM waits for it to go on. */
export async function stopped(bench: Bench): Promise<string | null> {
  const talking = await up(bench, `sh -c 'kill -STOP $$; exit 0' & echo up; read x; exit 0`);
  const client = await controlOf(bench);
  while (!(await client.members()).members.some(({ state }) => state === 'T'));
  return drained(bench, talking, {});
}

/** Processes that are gone as soon as one has seen them, each behind a child of its own; the count bounds a lost one. */
export async function hoppers(bench: Bench): Promise<string | null> {
  const hop = '[ $N -gt 0 ] || exit 0; N=$((N-1)) sh -c "$HOP" & exit 0';
  const script = `export HOP='${hop}' N=2000; for x in 1 2 3; do sh -c "$HOP" & done; echo up; read x; exit 0`;
  return drained(bench, await up(bench, script), {});
}

async function up(bench: Bench, script: string): Promise<Talking> {
  const talking = await launchedTalking(bench, shell(script));
  await talking.launch.openGate();
  await talking.talk.heard('up');
  return talking;
}

interface Manner {
  readonly graceMs?: number;
  /** The root says that it was asked. */
  readonly asked?: boolean;
}

/** The stream of the tree is at its end when the receipt is there: nobody who held it was left out. */
async function drained(bench: Bench, { launch, talk }: Talking, manner: Manner): Promise<string | null> {
  const asked = manner.asked === true ? talk.heard('asked').then(() => true) : Promise.resolve(true);
  asked.catch(() => undefined);
  // A shell looks for signals between two commands, so it is given another one to read.
  const wake = (): void => talk.say('');
  const events = await terminated(await controlOf(bench), manner.graceMs, wake);
  const { code } = await launch.exited;
  const exit = await receipt(bench.directory, 'exit');
  if (!events.some(({ event }) => event === 'settled') || code !== 0 || exit?.terminated !== true)
    return 'termination did not end in an exit receipt';
  await talk.ended;
  if (!(await asked.catch(() => false))) return 'nobody was asked to leave first';
  const scans = events.map((one) => (one.event === 'quiesced' ? one.scans : 0));
  return Math.max(...scans) >= 2 ? null : 'it was ended before two scans had agreed on who is there';
}

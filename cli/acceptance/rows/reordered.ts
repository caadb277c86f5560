/** FAULT-03: seeded histories of notes, shuffled and repeated, each beside the same in order; then old notes once more. */
import { ObserverPlace } from '../observerPlace.ts';
import type { Random } from '../random.ts';
import { claim, type Judgement, row, type Trying } from '../row.ts';
import { lookIn, type RunSeen } from '../storeLook.ts';
import { type Subject, subject } from '../subject.ts';

export interface Reordered {
  readonly histories: number;
  readonly notes: number;
  /** Histories that ended otherwise than the same in order. */
  readonly different: number;
  /** Runs that have not the process that was noted for them. */
  readonly misbound: number;
  readonly runs: number;
  /** Runs that ended, and how many of them old notes brought back. */
  readonly ended: number;
  readonly resurrected: number;
  /** Notes of another process or another end for what was told, and how many were refused. */
  readonly contradictions: number;
  readonly refused: number;
  /** Runs that a contradiction has changed. */
  readonly overwritten: number;
}

const histories = 8;
const longest = 9;

interface Told {
  readonly producer: string;
  readonly process: Subject;
  readonly lines: readonly string[];
}

async function observe(trying: Trying): Promise<Reordered> {
  const { random } = trying;
  const voice = new ObserverPlace(trying, 'reordered-voice');
  const place = new ObserverPlace(trying, 'reordered');
  const pairs: { readonly shuffled: Told; readonly inOrder: Told }[] = [];
  for (let nth = 0; nth < histories; nth += 1) {
    const [shuffled, inOrder] = [await told(trying, voice, `p${nth}`), await told(trying, voice, `q${nth}`)];
    const order = someOrder(random, shuffled.lines.length);
    const own = [...new Set(order)].sort().map((at) => inOrder.lines[at]!);
    pairs.push({
      shuffled: { ...shuffled, lines: order.map((at) => shuffled.lines[at]!) },
      inOrder: { ...inOrder, lines: own },
    });
  }
  const both = pairs.flatMap(({ shuffled, inOrder }) => [shuffled, inOrder]);
  const input = both.flatMap(({ lines }) => lines).join('');
  await place.observe(['ingest', '-'], { input });
  const { runs } = await lookIn(place.stateDir);
  // A run's id says nothing of its producer; its place in the order of the first notes does.
  const runOf = new Map(both.map(({ producer }, at) => [producer, runs[at]]));
  const differs = pairs.filter(
    ({ shuffled, inOrder }) => !isAlike(runOf.get(shuffled.producer), runOf.get(inOrder.producer)),
  );
  const misbound = both.filter(({ producer, process, lines }) => {
    const pid = lines.some((line) => line.includes('"run.bind"')) ? process.pid : null;
    return runOf.get(producer)?.pid !== pid;
  });
  return {
    histories,
    notes: both.reduce((sum, { lines }) => sum + lines.length, 0),
    different: differs.length,
    misbound: misbound.length,
    runs: runs.length,
    ...(await contradicted(place, both)),
    ...(await sentAgain(place, both, input)),
  };
}

/** What a launcher would say of one run, in its order. */
async function told(trying: Trying, voice: ObserverPlace, producer: string): Promise<Told> {
  const process = await subject(trying);
  const say = (...words: readonly string[]) => voice.note(...words, '--producer', producer);
  await say('reserve', 'job', '--label', 'a job');
  await say('bind', 'job', '--pid', String(process.pid));
  await say('worktree', 'job', trying.repository);
  await say('exit', 'job', '--code', '3');
  return { producer, process, lines: voice.spooled(producer) };
}

function someOrder(random: Random, count: number): number[] {
  const every = Array.from({ length: count }, (_, at) => at);
  const more = Array.from({ length: random.below(longest - count) }, () => random.below(count));
  return random.shuffled([...every, ...more]).slice(0, 1 + random.below(longest));
}

function isAlike(one: RunSeen | undefined, other: RunSeen | undefined): boolean {
  const shape = (run: RunSeen | undefined) =>
    JSON.stringify(run && [run.state, run.label, run.exitCode, run.generationId, [...run.gaps].sort()]);
  return one !== undefined && shape(one) === shape(other);
}

/** Another process and another end, in the name of what was told; notes are only ever about their own producer's runs. */
async function contradicted(place: ObserverPlace, both: readonly Told[]) {
  const before = await lookIn(place.stateDir);
  const wrong = both.flatMap(({ lines }, at) => {
    const stranger = both[(at + 1) % both.length]!;
    return lines.slice(0, 1).flatMap((line) => lies(line, lines, stranger));
  });
  const answer = await place.observe(['ingest', '-'], { input: wrong.join('') });
  const after = await lookIn(place.stateDir);
  const overwritten = before.runs.filter((run, at) => !isAlike(run, after.runs[at]) || run.pid !== after.runs[at]?.pid);
  return { contradictions: wrong.length, refused: answer.data?.counts.rejected ?? 0, overwritten: overwritten.length };
}

/** A number that was never given out, so that the note is another one. */
const laterSeq = 100;

function lies(own: string, told: readonly string[], { process }: Told): string[] {
  const { producer, stream } = JSON.parse(own) as { readonly producer: string; readonly stream: string };
  const bind = told.find((line) => line.includes('"run.bind"'));
  const exit = told.find((line) => line.includes('"run.exit"'));
  const other = (
    line: string | undefined,
    seq: number,
    change: (note: Record<string, unknown>) => object,
  ): string[] => {
    if (line === undefined) return [];
    // A sum would be that of the truth.
    const { sum: _, ...note } = JSON.parse(line) as Record<string, unknown>;
    return [`${JSON.stringify({ ...note, producer, stream, seq, ...change(note) })}\n`];
  };
  return [
    ...other(bind, laterSeq, (note) => ({ process: { ...(note.process as object), pid: process.pid } })),
    ...other(exit, laterSeq + 1, () => ({ code: 4 })),
  ];
}

/** The processes end, that is seen, and everything is sent once more from the beginning. */
async function sentAgain(place: ObserverPlace, both: readonly Told[], input: string) {
  await Promise.all(both.map(({ process }) => process.end()));
  await place.observe(['reconcile']);
  const before = await lookIn(place.stateDir);
  await place.observe(['ingest', '-'], { input });
  await place.observe(['reconcile']);
  const after = await lookIn(place.stateDir);
  const ended = before.runs.filter(({ state }) => state === 'ended');
  const still = after.runs.filter(({ state }) => state === 'ended');
  return { ended: ended.length, resurrected: ended.length - still.length };
}

export function judgeReordered(seen: Reordered): Judgement {
  const {
    histories: count,
    notes,
    different,
    misbound,
    runs,
    ended,
    resurrected,
    contradictions,
    refused,
    overwritten,
  } = seen;
  return {
    claims: [
      claim(
        `${count} histories, ${notes} notes, shuffled and repeated: ${different} ended otherwise than in order`,
        different === 0,
      ),
      claim(
        `${runs} runs for ${2 * count} told; ${misbound} have not the one process that was noted`,
        runs === 2 * count && misbound === 0,
      ),
      claim(
        `${contradictions} notes of another process or end: ${refused} refused, ${overwritten} runs changed`,
        contradictions > 0 && refused === contradictions && overwritten === 0,
      ),
      claim(`${ended} runs ended; all notes sent again: ${resurrected} came back`, ended > 0 && resurrected === 0),
    ],
    convergence: { ended, converged: ended - resurrected },
  };
}

export const reorderedRow = row('FAULT-03', observe, judgeReordered);

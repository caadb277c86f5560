/** D2: the daemon is killed, the work goes on, and its end is known once. D3: a guardian is silent, and nothing follows. */
import { writeFile } from 'node:fs/promises';
import { eventually, expectThat } from '../../demo/expectation.ts';
import type { Workplace } from '../../demo/stage.ts';
import { childrenOf, killAtOnce, living, signalled } from '../../demo/witness.ts';
import { appeared, type Drill, type Drilling, type Exec, exec, linesIn, proved, scopeOf, workplace } from '../drill.ts';

/** Says that it was launched, waits for a file, prints a line and exits 7. */
const script = 'echo $$ >> "$1"; while ! [ -e "$2" ]; do sleep 0.05; done; echo the line; exit 7';

interface Waiting {
  readonly place: Workplace;
  readonly run: Exec;
  readonly guardianPid: number;
  readonly workloadPid: number;
  readonly launches: string;
  letGo(): Promise<void>;
}

async function waiting(drilling: Drilling): Promise<Waiting> {
  const place = await workplace(drilling, 'the daemon dies');
  const [launches, go] = [drilling.file('launches'), drilling.file('go')];
  const run = await exec(drilling, place, { script, operands: [launches, go] });
  await appeared(drilling, launches);
  const { guardianPid, workloadPid } = await scopeOf(drilling, run.scopeId);
  expectThat(guardianPid !== null && workloadPid !== null, 'the scope has a guardian and a root');
  return { place, run, guardianPid, workloadPid, launches, letGo: () => writeFile(go, '') };
}

export async function killDaemon({ installation, interruption }: Drilling): Promise<number> {
  const { pid } = await installation.start();
  await killAtOnce(pid);
  await eventually(interruption.signal, 'the daemon is gone', async () => (await living([pid])).length === 0);
  return pid;
}

/** Ended once, as it ended, under the one guardian that was ever launched for it. */
async function oneOutcome(drilling: Drilling, { run, launches }: Waiting): Promise<string> {
  const { installation } = drilling;
  const { result, scope } = await proved(drilling, run.runId);
  expectThat(result?.code === 7 && scope?.state === 'exited', 'it ends with 7, proved', { result, scope });
  const lines: string[] = [];
  for await (const line of installation.lines(run.runId)) lines.push(line);
  expectThat(lines.join() === 'the line', 'its line is there, once', lines);
  const { events } = await installation.call('events', { actor: run.scopeId, limit: 1_000 });
  const count = (type: string) => events.filter((event) => event.type === type).length;
  const types = ['launch.releaseCommitted', 'workload.statusReceipt', 'guardian.exitReceipt'];
  const times = [await linesIn(launches), ...types.map(count)];
  expectThat(
    times.every((one) => one === 1),
    'it was launched, released and ended once',
    times,
  );
  return 'exit 7 with its line, recorded once; launched once';
}

async function adopted(drilling: Drilling): Promise<readonly string[]> {
  const work = await waiting(drilling);
  const killed = await killDaemon(drilling);
  const { pid } = await drilling.installation.start();
  const { guardianPid, assessment } = await scopeOf(drilling, work.run.scopeId);
  const isSame = guardianPid === work.guardianPid && assessment.state === 'live';
  expectThat(isSame, 'the next daemon finds the same guardian', { guardianPid, assessment });
  await work.letGo();
  return [
    `daemon ${killed} killed, daemon ${pid} found guardian ${guardianPid} again`,
    await oneOutcome(drilling, work),
  ];
}

async function missed(drilling: Drilling): Promise<readonly string[]> {
  const { installation, interruption } = drilling;
  const work = await waiting(drilling);
  const killed = await killDaemon(drilling);
  await work.letGo();
  const isOver = async () => (await living([work.guardianPid])).length === 0;
  await eventually(interruption.signal, 'the work ends without a daemon', isOver);
  const { pid } = await installation.start();
  const outcome = await oneOutcome(drilling, work);
  return [`daemon ${killed} killed; the work ended while nobody looked; daemon ${pid} learned how`, outcome];
}

/** The process on record, which only waits, and the one that works for it. */
async function guardianOf({ guardianPid, workloadPid }: Waiting): Promise<readonly number[]> {
  const children = await childrenOf(guardianPid);
  return [guardianPid, ...children.filter((pid) => pid !== workloadPid)];
}

async function silent(drilling: Drilling): Promise<readonly string[]> {
  const { installation } = drilling;
  const work = await waiting(drilling);
  const guardian = await guardianOf(work);
  await signalled('STOP', ...guardian);
  try {
    await shownAsSilent(drilling, work);
    await killDaemon(drilling);
    await installation.start();
    await shownAsSilent(drilling, work);
    await installation.call('worktrees.close', { id: work.place.generationId });
    const { code } = await installation.refusal('worktrees.seal', { id: work.place.generationId });
    expectThat(code === 'seal_refused', 'nothing is reclaimed', code);
    const alive = await living([work.guardianPid, work.workloadPid]);
    expectThat(alive.length === 2 && (await linesIn(work.launches)) === 1, 'nothing is ended or launched again', alive);
  } finally {
    await signalled('CONT', ...guardian);
  }
  await work.letGo();
  const outcome = await oneOutcome(drilling, work);
  return [
    `guardian ${work.guardianPid} stopped: shown as unresponsive, also by the next daemon`,
    'nothing was ended, launched again or reclaimed',
    `after SIGCONT: ${outcome}`,
  ];
}

async function shownAsSilent(drilling: Drilling, { run }: Waiting): Promise<void> {
  const { installation, interruption } = drilling;
  await eventually(interruption.signal, 'the silence is shown', async () => {
    await installation.call('status', {});
    const { unresponsiveSince, assessment } = await scopeOf(drilling, run.scopeId);
    expectThat(assessment.state === 'live', 'silence is no end', assessment);
    return unresponsiveSince !== null;
  });
}

export const daemonDrills: readonly Drill[] = [
  { name: 'D2a', title: 'the daemon dies, and the next one finds the work', run: adopted },
  { name: 'D2b', title: 'the work ends while there is no daemon, and is known afterwards, once', run: missed },
  { name: 'D3', title: 'the silence of a guardian is not its death', run: silent },
];

/** Launching for the demonstration's Goal, and listening to what it launched. */
import { workloadEnvironment } from '../launchEnvironment.ts';
import { expectThat, found } from './expectation.ts';
import type { Launched, Stage, Workplace } from './stage.ts';
import type { Size } from './viewer.ts';

export interface Launch {
  readonly name: string;
  readonly argv: readonly string[];
  readonly onRootExit?: 'wait';
  /** In a terminal of this size. */
  readonly terminal?: Size;
}

/** Should this process be killed outright, the daemon still ends what was launched when this time is over. */
const longestRunMs = 300_000;

/** Shows and makes the call, then asks for the two processes of the scope: the guardian and the root of the work. */
export async function launch(
  stage: Stage,
  { goalId }: Workplace,
  { name, argv, onRootExit, terminal }: Launch,
): Promise<Launched> {
  const { installation, narrator } = stage;
  const options = [
    ...(terminal ? ['--pty', '--size', `${terminal.cols}x${terminal.rows}`] : []),
    ...['--name', name],
    ...(onRootExit ? ['--on-root-exit', onRootExit] : []),
  ];
  narrator.command('custody', 'runs', 'exec', goalId, ...options, '--', ...argv);
  const run = await installation.call('runs.exec', {
    goalId,
    argv: [...argv],
    env: workloadEnvironment(process.env, []),
    label: name,
    timeoutMs: longestRunMs,
    ...(onRootExit ? { onRootExit } : {}),
    ...(terminal ? { terminal } : {}),
  });
  const scopeId = found(run.scopeId, 'a scope for the run');
  const { receipts } = await installation.call('runs.show', { id: run.runId });
  const started = found(receipts.find(({ kind }) => kind === 'start')?.receipt, 'a start receipt');
  const { guardian, workload } = started as Readonly<Record<'guardian' | 'workload', { readonly pid: number }>>;
  const total = run.launch.steps.find(({ step }) => step === 'total');
  narrator.fact(
    name,
    `run ${run.runId}: guardian pid ${guardian.pid}, root pid ${workload.pid}, in ${total?.ms.toFixed(0)} ms`,
  );
  return { run, scopeId, guardianPid: guardian.pid, workloadPid: workload.pid };
}

/** What one of our runs says, in order; a line that was read is not read again. */
export class Listener {
  readonly #stage: Stage;
  readonly #runId: string;
  #read = 0;

  constructor(stage: Stage, { run }: Launched) {
    this.#stage = stage;
    this.#runId = run.runId;
  }

  /** Shows line after line up to the one that begins with `word`, and returns what follows it. */
  async until(word: string): Promise<string> {
    const { installation, narrator } = this.#stage;
    let at = 0;
    for await (const text of installation.lines(this.#runId)) {
      at += 1;
      if (at <= this.#read) continue;
      this.#read = at;
      narrator.quote(text);
      if (text.startsWith(`${word}: `) || text.startsWith(`${word} `))
        return text.slice(word.length).replace(/^:? /, '');
    }
    const { result, capture } = await installation.call('runs.show', { id: this.#runId });
    expectThat(false, `${this.#runId} writes a line that begins with "${word}"`, { result, capture });
  }
}

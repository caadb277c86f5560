/** The whole of a check: every configuration and every mutant, shared out among threads. */
import { Worker } from 'node:worker_threads';
import { configurations } from './configurations/all.ts';
import type { Counterexample } from './counterexample.ts';
import { testedElsewhere } from './elsewhere.ts';
import { mutants } from './mutants.ts';
import { type ConfigurationVerdict, carryOut, type MutantVerdict, type Task, type TaskVerdict } from './verdict.ts';

export interface VerifyOptions {
  /** For all configurations together; mutants come after them and have as much again. */
  readonly seconds: number;
  readonly seed: number;
  readonly threads: number;
  /** One configuration by its name; without it all. */
  readonly configuration?: string;
  readonly withMutants: boolean;
  /** Where the built thread lies; without it everything happens here. */
  readonly workerPath?: string | URL;
  readonly onProgress?: (text: string) => void;
}

export interface VerifyReport {
  readonly format: 'custody-verify/1';
  readonly seed: number;
  readonly configurations: readonly ConfigurationVerdict[];
  readonly states: number;
  readonly transitions: number;
  readonly depth: number;
  /** From the first task to the last; mutants are not counted. */
  readonly seconds: number;
  readonly statesPerSecond: number;
  readonly invariants: ReadonlyArray<{
    readonly id: string;
    readonly title: string;
    readonly configurations: readonly string[];
  }>;
  /** Invariants that are not about the charts, and where they are tested. */
  readonly testedElsewhere: Readonly<Record<string, string>>;
  readonly mutants: readonly MutantVerdict[];
  readonly violations: readonly Counterexample[];
}

/** About three million states of a configuration fit into a gigabyte with all that is kept beside them. */
const mostStates = 3_000_000;
const mutantStates = 100_000;
/** Of each configuration that could notice it. */
const mutantMs = 60_000;

export async function verify(options: VerifyOptions): Promise<VerifyReport> {
  const { seconds, seed, configuration, withMutants, onProgress } = options;
  const chosen = configurations.filter(({ name }) => configuration === undefined || name === configuration);
  // The largest ones come last in the list and take longest, so they are begun first.
  const tasks = [...chosen].reverse().map(({ name }): Task => {
    const forMs = (seconds * 1_000 * Math.min(options.threads, chosen.length)) / chosen.length;
    return { is: 'configuration', name, effort: { seed, states: mostStates, forMs } };
  });
  const startedAt = performance.now();
  const verdicts = await shareOut(tasks, options);
  const took = (performance.now() - startedAt) / 1_000;
  const checked = verdicts.flatMap((one) => (one.is === 'configuration' ? [one.verdict] : []));
  const violations = checked.flatMap(({ violation }) => (violation === null ? [] : [violation]));
  onProgress?.(`${violations.length} violations; ${withMutants ? 'now the mutants' : 'no mutants were asked for'}`);
  const killed = withMutants && violations.length === 0 ? await tryMutants(options) : [];
  const states = sum(checked.map((one) => one.states));
  return {
    ...{ format: 'custody-verify/1', seed, configurations: checked, states },
    transitions: sum(checked.map((one) => one.transitions)),
    depth: Math.max(0, ...checked.map((one) => one.depth)),
    seconds: took,
    statesPerSecond: Math.round(states / took),
    invariants: invariantsOf(checked),
    testedElsewhere,
    mutants: killed,
    violations,
  };
}

async function tryMutants(options: VerifyOptions): Promise<readonly MutantVerdict[]> {
  const forMs = Math.min(mutantMs, options.seconds * 1_000);
  const tasks = mutants.map((mutant): Task => ({ is: 'mutant', mutant, limits: { states: mutantStates, forMs } }));
  return (await shareOut(tasks, options)).flatMap((one) => (one.is === 'mutant' ? [one.verdict] : []));
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

function invariantsOf(checked: readonly ConfigurationVerdict[]): VerifyReport['invariants'] {
  const known = new Map<string, { id: string; title: string; configurations: string[] }>();
  for (const { name, invariants } of checked) {
    for (const { id, title } of invariants) {
      const entry = known.get(`${id} ${title}`) ?? { id, title, configurations: [] };
      entry.configurations.push(name);
      known.set(`${id} ${title}`, entry);
    }
  }
  return [...known.values()].sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
}

/** Answers stand in the order of the tasks. */
async function shareOut(tasks: readonly Task[], options: VerifyOptions): Promise<readonly TaskVerdict[]> {
  const { workerPath, threads, onProgress } = options;
  const answers: TaskVerdict[] = [];
  let next = 0;
  const work = async (carry: (task: Task) => Promise<TaskVerdict> | TaskVerdict): Promise<void> => {
    for (let at = next++; at < tasks.length; at = next++) {
      const task = tasks[at] as Task;
      onProgress?.(
        `${at + 1} of ${tasks.length}: ${task.is === 'configuration' ? task.name : JSON.stringify(task.mutant)}`,
      );
      answers[at] = await carry(task);
    }
  };
  if (workerPath === undefined) {
    await work(carryOut);
    return answers;
  }
  const workers = Array.from({ length: Math.min(threads, tasks.length) }, () => new Worker(workerPath));
  try {
    await Promise.all(workers.map((worker) => work((task) => asked(worker, task))));
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
  return answers;
}

function asked(worker: Worker, task: Task): Promise<TaskVerdict> {
  return new Promise((resolve, reject) => {
    worker.once('error', reject);
    worker.once('message', (verdict: TaskVerdict) => {
      worker.off('error', reject);
      resolve(verdict);
    });
    worker.postMessage(task);
  });
}

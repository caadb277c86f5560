/** The check behind `custody verify`; it needs no daemon and no installation. */
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { configurations } from '../../inspect/verify/configurations/all.ts';
import { type VerifyReport, verify } from '../../inspect/verify/verify.ts';
import { usage } from '../failure.ts';
import { localAnswer } from '../invocation.ts';
import type { Output } from '../output.ts';
import { verifyLines } from '../print/verify.ts';

export interface VerifyCommand {
  readonly seconds: number;
  readonly seed: number;
  readonly config?: string;
  readonly mutants: boolean;
}

/** More would only share the same memory; a configuration cannot be split. */
const mostThreads = 4;

/** Returns the exit status: 1 where an invariant is broken, or a broken machine is not noticed. */
export async function runVerify(output: Output, { seconds, seed, config, mutants }: VerifyCommand): Promise<number> {
  if (config !== undefined && !configurations.some(({ name }) => name === config)) {
    const known = configurations.map(({ name }) => name).join(', ');
    throw usage(`there is no configuration ${JSON.stringify(config)}: ${known}`, ['custody verify']);
  }
  const workerPath = new URL('./verifyWorker.js', import.meta.url);
  const report = await verify({
    ...{ seconds, seed, threads: Math.min(mostThreads, availableParallelism()) },
    ...(config === undefined ? {} : { configuration: config }),
    withMutants: mutants && config === undefined,
    ...(existsSync(workerPath) ? { workerPath } : {}),
    onProgress: (text) => output.status(text),
  });
  output.clearStatus();
  return output.answer(localAnswer('verify', report, isSound(report) ? 0 : 1), verifyLines);
}

const isSound = ({ violations, mutants }: VerifyReport): boolean =>
  violations.length === 0 && mutants.every(({ killed, equivalent }) => killed || equivalent !== null);

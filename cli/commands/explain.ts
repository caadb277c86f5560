/** explain: why an actor stands where it stands. It starts no daemon: without one the store is only read. */
import type { Command } from 'commander';
import { type ExplainedView, untrustedExit } from '../../actors/daemon/api/explanationViews.ts';
import { OperatingError } from '../../actors/runtime/operatingError.ts';
import { action } from '../action.ts';
import { requireOperator } from '../credential.ts';
import { example } from '../globalOptions.ts';
import { Invocation, localAnswer } from '../invocation.ts';
import type { Answer } from '../output.ts';
import { line } from '../print/escape.ts';

export function registerExplain(program: Command): void {
  example(
    program
      .command('explain')
      .description('what something is, what it waits for, what blocks it, who can help, and what came last')
      .argument('<id>', 'a Goal, run, worktree, scope, session, worker or recovery fence, or the beginning of its id')
      .action(action(explain)),
    'custody explain G2c',
  );
}

async function explain({ globals, output }: Invocation, _: unknown, [id = '']: readonly string[]): Promise<number> {
  const asked = new Invocation({ ...globals, autostart: false });
  return output.answer(await answerTo(asked, id), ({ sentences }) => sentences.map((each) => line`${each}`));
}

/** Nobody answers, and what is committed stands in the file all the same. */
const unanswered: ReadonlySet<string> = new Set(['daemon_not_running', 'daemon_unreachable', 'daemon_unresponsive']);

async function answerTo(invocation: Invocation, id: string): Promise<Answer<ExplainedView>> {
  try {
    return await invocation.call('explain', { id });
  } catch (cause) {
    if (!(cause instanceof OperatingError) || !unanswered.has(cause.code)) throw cause;
    requireOperator();
    const { explainInStore } = await import('../../inspect/explain/storeExplainer.ts');
    const data = explainInStore(invocation.places.stateDir, id, await configuredChecks(invocation));
    const answer = localAnswer('explain', data, data.fault === null ? 0 : untrustedExit);
    return { ...answer, warnings: [`read from the store alone: ${cause.message}`] };
  }
}

/** As a daemon would read them now; undefined where it would refuse to start. */
async function configuredChecks({ places }: Invocation) {
  const { loadConfig } = await import('../../actors/daemon/config.ts');
  try {
    return loadConfig(places, process.env).config.checks;
  } catch (cause) {
    if (cause instanceof OperatingError) return undefined;
    throw cause;
  }
}

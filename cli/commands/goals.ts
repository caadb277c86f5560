/** goals add, list, show, queue, cancel. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { action } from '../action.ts';
import { parseDuration, parseWhole } from '../duration.ts';
import { addRequestId, example } from '../globalOptions.ts';
import { readInput } from '../input.ts';
import type { Invocation } from '../invocation.ts';
import { decisionLines, goalDetailLines, goalLines, newGoalLines } from '../print/goals.ts';

export function registerGoals(program: Command): void {
  const goals = program.command('goals').description('what should be done, and what came of its check');
  registerAdd(goals);
  example(
    goals
      .command('list')
      .description('Goals with the reason why each may or may not advance')
      .option('--status <status>', 'only this status')
      .option('--node <node>', 'only Goals assigned to this node')
      .option('--blocked', 'only those that may not advance')
      .action(action(list)),
    'custody goals list --blocked',
  );
  example(
    goals
      .command('show')
      .description('one Goal with its rounds, runs and worktrees')
      .argument('<goal>', 'id or an unambiguous beginning of it')
      .option('--evidence', 'with receipts, claims and what arrived late')
      .option('--history', 'with its journal')
      .action(action(show)),
    'custody goals show G4k --history',
  );
  example(
    addRequestId(goals.command('queue').description('move a Goal from the backlog to the queue'))
      .argument('<goal>', 'id or an unambiguous beginning of it')
      .option('--expect-revision <n>', 'refuse if the Goal has changed since', parseWhole(0, Number.MAX_SAFE_INTEGER))
      .action(action(queue)),
    'custody goals queue G4k',
  );
  example(
    addRequestId(goals.command('cancel').description('give a Goal up: recorded first, then its work is drained'))
      .argument('<goal>', 'id or an unambiguous beginning of it')
      .option('--reason <text>', 'kept with the decision')
      .option('--wait <duration>', 'wait this long for the proof that its work has ended', parseDuration)
      .action(action(cancel)),
    'custody goals cancel G4k --reason "done elsewhere" --wait 10s',
  );
}

function registerAdd(goals: Command): void {
  example(
    addRequestId(goals.command('add').description('record a new Goal with its first request'))
      .argument('<title>', 'one line for people')
      .option(
        '--request <file>',
        'what is asked, as text; - reads standard input. Without it the Goal stays in the backlog for good',
      )
      .option('--queue', 'queue it at once instead of leaving it in the backlog')
      .option('--priority <n>', 'higher goes first (-1000 to 1000)', parseWhole(-1_000, 1_000))
      .option('--node <node>', 'the machine that should do it')
      .option('--repo <path>', 'repository, or any directory inside it (default: the current one)')
      .action(action(add)),
    "printf 'Add a CONTRIBUTING file' | custody goals add contributing --request - --queue",
  );
}

interface AddOptions {
  readonly request?: string;
  readonly queue?: boolean;
  readonly priority?: number;
  readonly node?: string;
  readonly repo?: string;
}

/** The API takes this many characters (contract, `goals.add`); bytes are at least as many. */
const largestRequestBytes = 4_194_304;

async function add(invocation: Invocation, options: AddOptions, [title = '']: readonly string[]): Promise<number> {
  const { requestId } = invocation;
  const request =
    options.request === undefined ? undefined : await readInput('--request', options.request, largestRequestBytes);
  const answer = await invocation.call('goals.add', {
    title,
    repo: resolve(options.repo ?? '.'),
    request: request?.toString('utf8'),
    queue: options.queue,
    priority: options.priority,
    nodeId: options.node,
    requestId,
  });
  return invocation.output.answer(answer, newGoalLines, (data) => [data.goalId]);
}

interface ListOptions {
  readonly status?: string;
  readonly node?: string;
  readonly blocked?: boolean;
}

async function list(invocation: Invocation, { status, node, blocked }: ListOptions): Promise<number> {
  return invocation.output.answer(
    await invocation.call('goals.list', { status, nodeId: node, blocked }),
    ({ goals }, style) => goalLines(goals, style),
    ({ goals }) => goals.map(({ goalId }) => goalId),
  );
}

interface ShowOptions {
  readonly evidence?: boolean;
  readonly history?: boolean;
}

async function show(invocation: Invocation, options: ShowOptions, [id = '']: readonly string[]): Promise<number> {
  const { evidence, history } = options;
  return invocation.output.answer(await invocation.call('goals.show', { id, evidence, history }), goalDetailLines);
}

async function queue(
  invocation: Invocation,
  { expectRevision }: { readonly expectRevision?: number },
  [id = '']: readonly string[],
): Promise<number> {
  const { requestId } = invocation;
  const answer = await invocation.call('goals.queue', { id, expectRevision, requestId });
  return invocation.output.answer(answer, decisionLines, (data) => [data.goalId]);
}

interface CancelOptions {
  readonly reason?: string;
  readonly wait?: number;
}

async function cancel(invocation: Invocation, options: CancelOptions, [id = '']: readonly string[]): Promise<number> {
  const { requestId, output } = invocation;
  if (options.wait) output.status('waiting for proof');
  const answer = await invocation.call('goals.cancel', { id, reason: options.reason, waitMs: options.wait, requestId });
  return output.answer(answer, decisionLines, (data) => [data.goalId]);
}

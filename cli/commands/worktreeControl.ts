/** worktrees register, authority, ticket, retire. */
import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import type { CallArguments } from '../../actors/daemon/api/contract.ts';
import { action } from '../action.ts';
import { parseDuration, parseWhole } from '../duration.ts';
import { addRequestId, collect, example } from '../globalOptions.ts';
import { readInput } from '../input.ts';
import type { Invocation } from '../invocation.ts';
import { registeredLines, ticketLines, worktreeDecisionLines } from '../print/worktrees.ts';

const id = ['<worktree>', 'id or an unambiguous beginning of it'] as const;
const largestReceipt = 65_536;

export function registerWorktreeControl(worktrees: Command): void {
  const add = (name: string, description: string) => addRequestId(worktrees.command(name).description(description));
  example(
    add('register', 'watch a worktree that exists already; it keeps its controller')
      .argument('<path>', 'top of the worktree')
      .option('--controller <name>', 'who controls it (default: legacy)')
      .action(action(register)),
    'custody worktrees register ../other-worktree',
    'custody worktrees register ../other-worktree --controller ci',
  );
  example(
    add('authority', 'who controls a worktree: take it over, give it away, or keep it after all')
      .argument(...id)
      .argument('<change>', 'what is to become of the control')
      .option('--evidence <ref>', 'what taking over rests on; may be repeated', collect)
      .option('--to <controller>', 'with handoff: who is to be in control')
      .addOption(
        new Option('--expect-version <n>', 'refuse if the worktree has changed since (see show)').argParser(
          parseWhole(1, Number.MAX_SAFE_INTEGER),
        ),
      )
      .action(action(authority)),
    'custody worktrees authority W7p migrate --evidence tickets/4711',
    'custody worktrees authority W7p handoff --to legacy --expect-version 12',
    'custody worktrees authority W7p abandon',
  );
  const changes = worktrees.commands.find((command) => command.name() === 'authority')?.registeredArguments[1];
  changes?.choices(['grant', 'migrate', 'handoff', 'abandon']);
  example(
    add('ticket', 'leave for one executor to archive or remove a sealed worktree, once')
      .argument(...id)
      .requiredOption('--executor <name>', 'custody-archive or custody-remove')
      .option(
        '--expires <duration>',
        'how long it may be begun, such as 10m (default: while the seal stands)',
        parseDuration,
      )
      .action(action(ticket)),
    'custody worktrees ticket W7p --executor custody-remove --expires 10m',
    'custody-remove TICKET-FILE',
  );
  example(
    add('retire', 'give a worktree back, by the receipt of the executor')
      .argument(...id)
      .requiredOption('--receipt <file>', 'what the executor wrote, - for standard input')
      .action(action(retire)),
    'custody worktrees retire W7p --receipt RECEIPT-FILE',
  );
}

async function register(
  invocation: Invocation,
  { controller }: { readonly controller?: string },
  [path = '']: readonly string[],
): Promise<number> {
  const { requestId, output } = invocation;
  const named = controller === undefined ? {} : { controller };
  const answer = await invocation.call('worktrees.register', { path: resolve(path), ...named, requestId });
  return output.answer(answer, registeredLines, (data) => [data.generationId]);
}

interface AuthorityOptions {
  readonly evidence?: readonly string[];
  readonly to?: string;
  readonly expectVersion?: number;
}

type Change = CallArguments<'worktrees.authority'>['change'];

async function authority(
  invocation: Invocation,
  { evidence = [], to, expectVersion }: AuthorityOptions,
  [worktree = '', change = '']: readonly string[],
): Promise<number> {
  const { requestId, output } = invocation;
  const answer = await invocation.call('worktrees.authority', {
    id: worktree,
    change: change as Change,
    evidence: [...evidence],
    ...(to === undefined ? {} : { to }),
    ...(expectVersion === undefined ? {} : { expectVersion }),
    requestId,
  });
  return output.answer(answer, worktreeDecisionLines, (data) => [data.generationId]);
}

const executors: readonly string[] = ['custody-archive', 'custody-remove'];

interface TicketOptions {
  readonly executor: string;
  readonly expires?: number;
}

async function ticket(
  invocation: Invocation,
  { executor, expires }: TicketOptions,
  [worktree = '']: readonly string[],
): Promise<number> {
  const { requestId, output } = invocation;
  const until = expires === undefined ? {} : { expiresMs: expires };
  const answer = await invocation.call('worktrees.ticket', { id: worktree, executor, ...until, requestId });
  // Somebody may bring an executor of their own; more often a name is typed wrong.
  const warnings = executors.includes(executor)
    ? answer.warnings
    : [...answer.warnings, `Custody has no executor ${executor}; it has ${executors.join(' and ')}`];
  return output.answer({ ...answer, warnings }, ticketLines, (data) => [data.file]);
}

async function retire(
  invocation: Invocation,
  { receipt: file }: { readonly receipt: string },
  [worktree = '']: readonly string[],
): Promise<number> {
  const { requestId, output } = invocation;
  const receipt = (await readInput('--receipt', file, largestReceipt)).toString('utf8');
  const answer = await invocation.call('worktrees.retire', { id: worktree, receipt, requestId });
  return output.answer(answer, worktreeDecisionLines, (data) => [data.generationId]);
}

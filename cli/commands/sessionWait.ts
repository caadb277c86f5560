/** sessions wait: for something on the screen, for silence, or for the end. */
import { type Command, Option } from 'commander';
import type { CallArguments } from '../../actors/daemon/api/contract.ts';
import { action } from '../action.ts';
import { parseDuration } from '../duration.ts';
import { usage } from '../failure.ts';
import { example } from '../globalOptions.ts';
import type { Invocation } from '../invocation.ts';
import { sessionLines } from '../print/sessions.ts';
import { tellTime } from '../wait.ts';

interface WaitOptions {
  readonly for?: string;
  readonly regex?: string;
  readonly quietMs?: number;
  readonly exit?: boolean;
  readonly timeout?: number;
}

type Condition = CallArguments<'sessions.wait'>['until'];

export function registerSessionWait(sessions: Command): void {
  const command = sessions
    .command('wait')
    .description('wait for one thing; exit 14 when it does not come to pass in time')
    .argument('<session>', 'id or an unambiguous beginning of it')
    .option('--for <text>', 'the screen shows this text')
    .option('--regex <expression>', 'the screen shows what matches this')
    .addOption(quietOption())
    .option('--exit', 'it is over, and what became of its work is known')
    .option('--timeout <duration>', 'at most this long', parseDuration);
  example(
    command.action(action(wait)),
    'custody sessions wait P5m --for "Proceed?" --timeout 2m',
    'custody sessions wait P5m --quiet 5s',
  );
}

/** Its name is that of a switch that every command has; here only the short form of that one is left (globalOptions). */
function quietOption(): Option {
  const option = new Option('--quiet <duration>', 'it has written nothing for this long, such as 5s');
  option.attributeName = () => 'quietMs';
  return option.argParser(parseDuration);
}

async function wait(invocation: Invocation, options: WaitOptions, [id = '']: readonly string[]): Promise<number> {
  const until = conditionOf(options, id);
  const done = tellTime(invocation, `waiting for ${id}`);
  try {
    const answer = await invocation.call('sessions.wait', { id, until, waitMs: options.timeout });
    return invocation.output.answer(answer, sessionLines, (data) => [data.sessionId]);
  } finally {
    done();
  }
}

function conditionOf({ for: text, regex, quietMs, exit }: WaitOptions, id: string): Condition {
  const conditions: Condition[] = [];
  if (text !== undefined) conditions.push({ kind: 'text', text });
  if (regex !== undefined) conditions.push({ kind: 'regex', regex });
  if (quietMs !== undefined) conditions.push({ kind: 'quiet', quietMs });
  if (exit) conditions.push({ kind: 'exit' });
  const [only] = conditions;
  if (only !== undefined && conditions.length === 1) return only;
  throw usage('give one of --for, --regex, --quiet and --exit', [`custody sessions wait ${id} --exit --timeout 30s`]);
}

/** agent result, need-input, boundary, goal: what work says of itself, from inside its session. */
import type { Command } from 'commander';
import { action } from '../action.ts';
import { sessionVariable, tokenVariable } from '../credential.ts';
import { usage } from '../failure.ts';
import { example } from '../globalOptions.ts';
import { readInput } from '../input.ts';
import type { Invocation } from '../invocation.ts';
import { boundaryLines, reportedLines } from '../print/agent.ts';
import { goalDetailLines } from '../print/goals.ts';

/** The API's bound on a result. */
const longestResult = 1_048_576;

export function registerAgent(program: Command): void {
  const agent = program.command('agent').description('for work inside a session: say how it went, ask, look');
  example(
    agent
      .command('result')
      .description('report the result as JSON, last of all: the session is ended then; it counts if it fits its schema')
      .requiredOption('--file <file>', 'where it is; - reads standard input')
      .action(inSession(result)),
    'custody agent result --file result.json',
    'echo \'{"done":true}\' | custody agent result --file -',
  );
  example(
    agent
      .command('need-input')
      .description('say that the work waits for somebody; prints nothing, because output would mean that it goes on')
      .argument('[reason]', 'why, in short (default: question)')
      .action(inSession(needInput)),
    'custody agent need-input permission',
  );
  example(
    agent
      .command('boundary')
      .description('ask whether to go on; exit 12 when a decision has moved the Goal on')
      .argument(
        '<name>',
        'what the work has come to: candidateRefresh, replacementQuality, replacementGovernance, publication, integration or settlement',
      )
      .action(inSession(boundary)),
    'custody agent boundary publication || exit',
  );
  example(
    agent.command('goal').description('the Goal that this session works for').action(inSession(goal)),
    'custody agent goal --json',
  );
}

interface Session {
  readonly sessionId: string;
  readonly token: string;
}

type Body<Options> = (
  invocation: Invocation,
  session: Session,
  given: { readonly options: Options; readonly operand: string | undefined },
) => Promise<number>;

/** Throws `usage` outside a session. */
function inSession<Options>(body: Body<Options>) {
  return action<Options>((invocation, options, [operand]) => {
    const { [sessionVariable]: sessionId, [tokenVariable]: token } = process.env;
    if (!sessionId || !token) {
      throw usage(`this is for work inside a session: ${sessionId ? tokenVariable : sessionVariable} is not set`, [
        'custody runs exec GOAL --pty -- CMD...',
      ]);
    }
    return body(invocation, { sessionId, token }, { options, operand });
  });
}

const result: Body<{ readonly file: string }> = async (invocation, session, { options }) => {
  const text = await readInput('--file', options.file, longestResult);
  const answer = await invocation.call('agent.result', { session, result: text.toString('utf8') });
  return invocation.output.answer(answer, reportedLines, (data) => [data.digest]);
};

/** Whatever is written in a session is output, and output after the question would say that the work goes on. */
const needInput: Body<unknown> = async (invocation, session, { operand: reason }) =>
  invocation.output.answer(
    await invocation.call('agent.needInput', { session, reason }),
    () => [],
    () => [],
  );

const boundary: Body<unknown> = async (invocation, session, { operand: name = '' }) =>
  invocation.output.answer(await invocation.call('agent.boundary', { session, name }), boundaryLines, (data) => [
    data.goalId,
  ]);

const goal: Body<unknown> = async (invocation, session) =>
  invocation.output.answer(await invocation.call('agent.goal', { session }), goalDetailLines, (data) => [data.goalId]);

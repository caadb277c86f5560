/** sessions send: text as a paste, keys as keys; acknowledged when the terminal has the last byte. */
import { type Command, Option } from 'commander';
import type { CallResults } from '../../actors/daemon/api/results.ts';
import { action } from '../action.ts';
import { type KeyBytes, parseKey } from '../attach/keyNames.ts';
import { usage } from '../failure.ts';
import { addRequestId, example } from '../globalOptions.ts';
import { readInput } from '../input.ts';
import type { Invocation } from '../invocation.ts';
import type { Answer } from '../output.ts';
import { sentLines } from '../print/sessions.ts';

interface SendOptions {
  readonly file?: string;
  readonly enter?: boolean;
  readonly key?: readonly KeyBytes[];
  readonly paste?: 'auto' | 'always' | 'never';
}

export function registerSend(sessions: Command): void {
  const command = sessions
    .command('send')
    .description('type into a session: text first, then keys, then Enter')
    .argument('<session>', 'id or an unambiguous beginning of it')
    .argument('[text]', 'as it is')
    .option('--file <file>', 'the text from a file; - reads standard input')
    .option('--key <name>', 'a key such as esc, up, f5, ctrl-c or alt-x (repeatable)', collectKey)
    .option('--enter', 'press Enter at the end')
    .addOption(
      new Option('--paste <when>', 'bracket the text as a paste (default: auto, if the program asked for it)').choices([
        'auto',
        'always',
        'never',
      ]),
    );
  example(
    addRequestId(command).action(action(send)),
    'custody sessions send P5m "run the tests" --enter',
    'custody sessions send P5m --file prompt.md --enter',
    'custody sessions send P5m --key esc --key ctrl-c',
  );
}

const collectKey = (name: string, former: readonly KeyBytes[] | undefined): KeyBytes[] => [
  ...(former ?? []),
  parseKey(name),
];

/** As much as the holder of the terminal keeps for a program that does not read. */
const longestText = 4_194_304;

async function send(invocation: Invocation, options: SendOptions, operands: readonly string[]): Promise<number> {
  const [id = '', operand] = operands;
  const { file, key = [], enter = false, paste } = options;
  if (operand !== undefined && file !== undefined) {
    throw usage('the text is given twice', [`custody sessions send ${id} --file FILE`]);
  }
  const text = file === undefined ? Buffer.from(operand ?? '') : await readInput('--file', file, longestText);
  if (text.length > longestText) throw usage(`more than ${longestText} bytes of text`, ['send it in parts']);
  if (text.length === 0 && key.length === 0 && !enter) {
    throw usage('there is nothing to send', [`custody sessions send ${id} TEXT --enter`]);
  }
  const { requestId, output } = invocation;
  const base = { id, requestId } as const;
  const isWithKeys = key.length > 0;
  let answer: Answer<CallResults['sessions.send']> | undefined;
  if (text.length > 0) {
    const bytes = text.toString('base64');
    answer = await invocation.call('sessions.send', { ...base, bytes, paste, enter: enter && !isWithKeys });
  }
  if (answer === undefined || isWithKeys) {
    const bytes = Buffer.concat(key.map((one) => one.bytes)).toString('base64');
    const applicationBytes = Buffer.concat(key.map((one) => one.applicationBytes)).toString('base64');
    const typed = { ...base, requestId: `${requestId}.keys`, bytes, applicationBytes, enter };
    answer = summed(answer, await invocation.call('sessions.send', { ...typed, paste: 'never' }));
  }
  return output.answer(answer, sentLines, (data) => [data.sessionId]);
}

function summed(
  first: Answer<CallResults['sessions.send']> | undefined,
  second: Answer<CallResults['sessions.send']>,
): Answer<CallResults['sessions.send']> {
  if (first === undefined) return second;
  const { sessionId, bracketed, bytes } = first.data;
  return { ...second, data: { sessionId, bracketed, bytes: bytes + second.data.bytes } };
}

/** recover --assume-ended: the last resort for work that nothing can prove any more. */
import { createInterface } from 'node:readline/promises';
import type { CallArguments } from '../../actors/daemon/api/contract.ts';
import { OperatingError } from '../../actors/runtime/operatingError.ts';
import { usage } from '../failure.ts';
import type { Invocation } from '../invocation.ts';
import { assumedLines, type Proposal, proposalLines } from '../print/assumeEnded.ts';
import { line } from '../print/escape.ts';

export interface AssumeOptions {
  readonly assumeEnded: string;
  readonly because?: string;
  readonly confirmScope?: string;
  readonly confirmText?: string;
}

/** Throws what the daemon refuses, and for the second confirmation that is missing. */
export async function assumeEnded(invocation: Invocation, options: AssumeOptions): Promise<number> {
  const { assumeEnded: scopeId, because } = options;
  if (because === undefined || because.trim() === '')
    throw usage('--assume-ended needs a reason that is kept', [
      `custody recover --assume-ended ${scopeId} --because TEXT`,
    ]);
  const request: CallArguments<'recover.assumeEnded'> = { scopeId, because, requestId: invocation.requestId };
  const confirm = given(options) ?? (await asked(invocation, request));
  const answer = await invocation.call('recover.assumeEnded', confirm ? { ...request, confirm } : request);
  return invocation.output.answer(answer, assumedLines, ({ scopeId: only }) => [only]);
}

type Confirmation = NonNullable<CallArguments<'recover.assumeEnded'>['confirm']>;

function given({ confirmScope, confirmText }: AssumeOptions): Confirmation | undefined {
  if (confirmScope === undefined && confirmText === undefined) return undefined;
  return { scopeId: confirmScope ?? '', text: confirmText ?? '' };
}

/** Where nobody can be asked there is no confirmation, and the daemon says what it would take. */
async function asked(
  invocation: Invocation,
  request: CallArguments<'recover.assumeEnded'>,
): Promise<Confirmation | undefined> {
  const isPerson = process.stdin.isTTY && process.stderr.isTTY && !invocation.output.json;
  if (!isPerson) return undefined;
  const proposal = await proposed(invocation, request);
  if (proposal === undefined) return undefined;
  for (const text of proposalLines(proposal)) invocation.output.note(text);
  const questions = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const scopeId = await questions.question(line`type the whole id of the scope: `);
    if (scopeId.trim() !== proposal.scopeId) throw unconfirmed();
    const text = await questions.question(line`type the words ${JSON.stringify(proposal.words)}: `);
    if (text.trim() !== proposal.words) throw unconfirmed();
    return { scopeId: proposal.scopeId, text: proposal.words };
  } finally {
    questions.close();
  }
}

/** Asked without a confirmation, the daemon refuses and says what it knows; anything else that it says is the answer. */
async function proposed(
  invocation: Invocation,
  request: CallArguments<'recover.assumeEnded'>,
): Promise<Proposal | undefined> {
  try {
    await invocation.call('recover.assumeEnded', request);
    return undefined;
  } catch (error) {
    const { code, details } = error as Partial<OperatingError>;
    if (code !== 'confirmation_required') throw error;
    return details as unknown as Proposal;
  }
}

const unconfirmed = (): OperatingError =>
  new OperatingError({
    code: 'confirmation_required',
    message: 'that is not what was asked for; nothing was changed',
    exitCode: 13,
    next: ['repeat the command'],
  });

/** completions bash|zsh|fish, and the hidden command that those scripts ask for ids. */
import { Argument, type Command } from 'commander';
import type { CallArguments, CallName } from '../../actors/daemon/api/contract.ts';
import type { CallResults } from '../../actors/daemon/api/results.ts';
import { readRendezvous } from '../../actors/runtime/places.ts';
import { action } from '../action.ts';
import { Client } from '../client.ts';
import { type IdKind, idKinds } from '../completions/shape.ts';
import { credentialOf } from '../credential.ts';
import { example } from '../globalOptions.ts';
import { type Invocation, localAnswer } from '../invocation.ts';
import { printable } from '../print/escape.ts';

type Shell = 'bash' | 'zsh' | 'fish';

export function registerCompletions(program: Command): void {
  const completions = program
    .command('completions')
    .description('print the completion script of a shell')
    .addArgument(new Argument('<shell>', 'bash, zsh or fish').choices(['bash', 'zsh', 'fish']))
    .action(
      action(async ({ output }, _, [shell]) => {
        const script = await scriptFor(shell as Shell, program);
        return output.answer(localAnswer('completions', { shell, script }), () => [script.trimEnd()]);
      }),
    );
  example(completions, 'eval "$(custody completions bash)"', 'custody completions fish | source');
  program
    .command('__complete', { hidden: true })
    .addArgument(new Argument('<kind>').choices(idKinds))
    .action(action(complete));
}

async function scriptFor(shell: Shell, program: Command): Promise<string> {
  const { shapeOf } = await import('../completions/shape.ts');
  const shape = shapeOf(program);
  if (shell === 'bash') return (await import('../completions/bash.ts')).bashScript(shape);
  if (shell === 'zsh') return (await import('../completions/zsh.ts')).zshScript(shape);
  return (await import('../completions/fish.ts')).fishScript(shape);
}

/** Somebody is waiting with a finger on the key: without an answer within this time there are no candidates. */
const answerWithinMs = 1_000;

/** `id TAB description` a line. Never starts a daemon and never says why there is nothing to offer. */
async function complete({ places, output }: Invocation, _: unknown, [kind]: readonly string[]): Promise<number> {
  const rendezvous = readRendezvous(places);
  if (!rendezvous) return 0;
  const client = new Client(rendezvous, () => credentialOf(places));
  try {
    const lists = await Promise.all(candidates[kind as IdKind].map((list) => list(client)));
    for (const [id, text] of lists.flat()) output.text(`${printable(id)}\t${printable(text).slice(0, 60)}`);
  } catch {
    // The shell shows whatever a completion prints in the middle of the line being typed.
  }
  return 0;
}

type Candidates = (client: Client) => Promise<readonly (readonly [string, string])[]>;

async function ask<Name extends CallName>(
  client: Client,
  name: Name,
  args: CallArguments<Name>,
): Promise<CallResults[Name] | undefined> {
  const reply = await client.call<CallResults[Name]>(name, args as { readonly requestId?: string }, answerWithinMs);
  return reply.ok ? reply.data : undefined;
}

const goals: Candidates = async (client) =>
  ((await ask(client, 'goals.list', {}))?.goals ?? []).map(({ goalId, status, title }) => [
    goalId,
    `${status} ${title}`,
  ]);

const runs: Candidates = async (client) =>
  ((await ask(client, 'runs.list', {}))?.runs ?? []).map(({ runId, state, label, launcher }) => [
    runId,
    `${state} ${launcher ?? label ?? ''}`,
  ]);

const worktrees: Candidates = async (client) =>
  ((await ask(client, 'worktrees.list', {}))?.worktrees ?? []).map(({ generationId, lifecycle, branch }) => [
    generationId,
    `${lifecycle} ${branch ?? ''}`,
  ]);

const sessions: Candidates = async (client) =>
  ((await ask(client, 'sessions.list', { all: true }))?.sessions ?? []).map(({ sessionId, workload, label }) => [
    sessionId,
    `${workload} ${label ?? ''}`,
  ]);

const candidates: Readonly<Record<IdKind, readonly Candidates[]>> = {
  goals: [goals],
  runs: [runs],
  worktrees: [worktrees],
  sessions: [sessions],
  actors: [goals, runs, worktrees, sessions],
};

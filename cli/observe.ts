/**
 * The command `custody observe`, a program of its own: what is bundled into it takes notes, looks at processes and writes
 * its private store, and could do nothing else if it wanted to (INT-01…03).
 */
import { Command, CommanderError } from 'commander';
import { createSystemClock } from '../actors/observe/linux/clock.ts';
import { selectAdapter } from '../actors/observe/select.ts';
import { placesOf } from '../actors/runtime/places.ts';
import { endWithReader } from './closedReader.ts';
import { failureOf } from './failure.ts';
import { addGlobalOptions, example } from './globalOptions.ts';
import { type Run, registerObserve } from './observe/commands.ts';
import type { Platform } from './observe/observer.ts';
import { Output } from './output.ts';
import { usageOf } from './usage.ts';
import { version } from './version.ts';

interface Globals {
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly color?: boolean;
  readonly stateDir?: string;
}

/** No probe: asking the kernel by kill(2) whether somebody is there is a signal to it, and this program has none (INT-02). */
const platform: Platform = {
  clock: () => createSystemClock(),
  adapterFor: (installationId) =>
    selectAdapter(process.platform, { installationId: installationId as never, pinLimit: 0 }),
};

const run: Run =
  (body) =>
  async (...parameters) => {
    const command = parameters.at(-1) as Command;
    const { json = false, quiet = false, color = true, stateDir } = command.optsWithGlobals<Globals>();
    const output = new Output({ json, quiet, color });
    const places = placesOf({ stateDir, env: process.env });
    const operand = parameters.length > 2 ? (parameters[0] as string | undefined) : undefined;
    process.exitCode = await body(
      { here: { places, platform }, output },
      parameters.at(-2) as Record<string, never>,
      operand,
    );
  };

/** `typed` is what follows `custody observe`. Sets the exit status of the process. */
export async function main(typed: readonly string[]): Promise<void> {
  endWithReader(process.stdout);
  endWithReader(process.stderr);
  // Everything that it makes is private, whoever calls.
  process.umask(0o077);
  const program = new Command('observe')
    .description('Watches what others launch, and has no power over it.')
    .version(version, '-V, --version', 'print the version')
    .exitOverride()
    .configureOutput({ writeErr: () => undefined, outputError: () => undefined });
  registerObserve(program, run);
  example(program, 'custody observe reconcile --once', 'custody observe status --json');
  addGlobalOptions(program);
  const parent = new Command('custody').addCommand(program);
  try {
    await parent.parseAsync(['observe', ...typed], { from: 'user' });
  } catch (thrown) {
    process.exitCode = report(thrown, parent, ['observe', ...typed]);
  }
}

function report(thrown: unknown, program: Command, words: readonly string[]): number {
  if (thrown instanceof CommanderError && thrown.exitCode === 0) return 0;
  const error = thrown instanceof CommanderError ? usageOf(thrown, program, words) : failureOf(thrown);
  new Output({ json: words.includes('--json'), quiet: false, color: !words.includes('--no-color') }).failure(error);
  return error.exitCode;
}

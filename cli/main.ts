#!/usr/bin/env node
/** The command `custody`. It owns nothing: whatever it changes, the daemon changes. */
import { CommanderError } from 'commander';
import { failureOf } from './failure.ts';
import { Output } from './output.ts';
import { showOverview } from './overview.ts';
import { buildProgram } from './program.ts';
import { deepestCommand, usageOf } from './usage.ts';

/** A reader that has seen enough (`| head`) is no failure of this program. */
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (cause: NodeJS.ErrnoException) => {
    if (cause.code === 'EPIPE') process.exit(0);
    throw cause;
  });
}
/** Leaving a wait or a stream ends only the looking; the work goes on. */
process.once('SIGINT', () => process.exit(130));

const words = process.argv.slice(2);
const program = buildProgram(words[0]);
try {
  await program.parseAsync(words, { from: 'user' });
} catch (thrown) {
  process.exitCode = report(thrown);
}

/** Shows what stopped the command and returns the exit status. */
function report(thrown: unknown): number {
  if (thrown instanceof CommanderError) {
    if (thrown.exitCode === 0) return 0;
    if (thrown.code === 'commander.help' && deepestCommand(program, words) === program) return showOverview(program);
  }
  const error = thrown instanceof CommanderError ? usageOf(thrown, program, words) : failureOf(thrown);
  // The options may be what could not be parsed, so the words themselves say which form was asked for.
  const end = words.indexOf('--');
  const own = end < 0 ? words : words.slice(0, end);
  new Output({ json: own.includes('--json'), quiet: false, color: !own.includes('--no-color') }).failure(error);
  return error.exitCode;
}

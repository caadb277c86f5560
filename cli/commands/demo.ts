/** demo: the whole story in a minute, on a scratch clone, leaving nothing behind. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { action } from '../action.ts';
import { example } from '../globalOptions.ts';

export function registerDemo(program: Command): void {
  const command = program
    .command('demo')
    .description('launch, kill the daemon, adopt, prove, seal: in a scratch directory that is removed afterwards')
    .option(
      '--repo <path>',
      'work on a scratch clone of this repository (default: this checkout, or a small one made for it)',
    )
    .option('--keep', 'leave the scratch directory and say where it is')
    .action(
      action<{ readonly repo?: string; readonly keep?: boolean }>(async ({ globals, output }, { repo, keep }) => {
        const { runDemo } = await import('../demo/main.ts');
        return runDemo({
          ...(repo === undefined ? {} : { repo: resolve(repo) }),
          keep: keep ?? false,
          json: output.json,
          quiet: output.quiet,
          color: globals.color ?? true,
        });
      }),
    );
  example(command, 'custody demo', 'custody demo --repo ~/src/project');
}

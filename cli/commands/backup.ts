/** backup: a consistent copy of the store while everything goes on. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { action } from '../action.ts';
import { example } from '../globalOptions.ts';
import { line } from '../print/escape.ts';
import { size } from '../print/quantity.ts';

export function registerBackup(program: Command): void {
  const command = program
    .command('backup')
    .description('write a consistent copy of the store')
    .argument('<file>', 'where to; it must not exist yet')
    .action(
      action(async (invocation, _, [file = '']) =>
        invocation.output.answer(await invocation.call('backup', { to: resolve(file) }), ({ path, bytes }) => [
          line`${path} (${size(bytes)})`,
        ]),
      ),
    );
  example(command, 'custody backup ~/custody-backup.db');
}

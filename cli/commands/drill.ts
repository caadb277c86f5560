/** drill: what users of such tools report as faults, tried on this machine, in a scratch directory that is removed. */
import type { Command } from 'commander';
import { action } from '../action.ts';
import { example } from '../globalOptions.ts';

export function registerDrill(program: Command): void {
  const command = program
    .command('drill')
    .description('try the faults that users of such tools report, on this machine; exit 1 when one is not withstood')
    .argument('[name]', 'one drill, or all whose names begin so: D1, D2 …')
    .option('--keep', 'leave the scratch directory and say where it is')
    .action(
      action<{ readonly keep?: boolean }>(async ({ globals, output }, { keep = false }, [name]) => {
        const { runDrills } = await import('../drill/main.ts');
        const { json, quiet } = output;
        return runDrills({ ...(name === undefined ? {} : { name }), keep, json, quiet, color: globals.color ?? true });
      }),
    );
  example(command, 'custody drill', 'custody drill D1 --json');
}

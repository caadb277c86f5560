/** machines list|show|export: the charts that this program runs, in every form that other tools read. No daemon is asked. */
import { join } from 'node:path';
import { Argument, type Command, Option } from 'commander';
import type { FormatName } from '../../inspect/diagrams/formats.ts';
import type { ActorDefinition } from '../../machines/definition.ts';
import type { ActorKind } from '../../machines/ids.ts';
import { action } from '../action.ts';
import { usage } from '../failure.ts';
import { example } from '../globalOptions.ts';
import { type Invocation, localAnswer } from '../invocation.ts';
import { line } from '../print/escape.ts';
import { isFolder, makeFolder, writeWhole } from '../wholeFile.ts';

/** As in `actorKinds` and in the table of formats, which would load much to declare a command. A test holds them to those. */
export const machineKinds = [
  'goal',
  'run',
  'worktreeGeneration',
  'executionScope',
  'ptySession',
  'workerIncarnation',
  'recoveryFence',
] as const satisfies readonly ActorKind[];

export const exportFormats = [
  'createMachine',
  'createMachine-v4',
  'scxml',
  'mermaid',
  'dot',
  'svg',
  'json-schema',
  'json',
] as const satisfies readonly FormatName[];

export function registerMachines(program: Command): void {
  const machines = program.command('machines').description('the charts that this program runs');
  example(
    machines.command('list').description('every chart, with its version and size').action(action(list)),
    'custody machines list',
  );
  example(
    machines
      .command('show')
      .description('the states of a chart, and what leads on from each')
      .addArgument(new Argument('<kind>', machineKinds.join(', ')).choices(machineKinds))
      .action(action(show)),
    'custody machines show run',
  );
  example(
    machines
      .command('export')
      .description('write charts for other tools')
      .addArgument(new Argument('[kinds...]', 'all of them by default').choices(machineKinds))
      .addOption(new Option('--format <format>', 'in which form').choices(exportFormats).makeOptionMandatory())
      .option('--output <path>', 'a file for one chart, a directory for several (default: standard output)')
      .action(action(exportCharts)),
    'custody machines export run --format svg --output run.svg',
    'custody machines export --format createMachine --output machines/',
  );
}

async function list({ output }: Invocation): Promise<number> {
  const { definitions } = await import('../../machines/registry.ts');
  const { chartOf } = await import('../../inspect/diagrams/chart.ts');
  const { machineListLines } = await import('../print/machines.ts');
  const machines = Object.values(definitions).map((definition) => ({
    ...chartOf(definition),
    plane: definition.plane,
  }));
  return output.answer(localAnswer('machines.list', { machines }), machineListLines, () => [...machineKinds]);
}

async function show({ output }: Invocation, _: unknown, [kind]: readonly string[]): Promise<number> {
  const { definitions } = await import('../../machines/registry.ts');
  const { chartOf } = await import('../../inspect/diagrams/chart.ts');
  const { machineLines } = await import('../print/machines.ts');
  const chart = chartOf(definitions[kind as ActorKind]);
  return output.answer(localAnswer('machines.show', { chart }), machineLines);
}

interface ExportOptions {
  readonly format: FormatName;
  readonly output?: string;
}

async function exportCharts({ output }: Invocation, options: ExportOptions, named: readonly string[]): Promise<number> {
  const { definitions } = await import('../../machines/registry.ts');
  const { formats } = await import('../../inspect/diagrams/formats.ts');
  const kinds = [...new Set(named.length === 0 ? machineKinds : (named as readonly ActorKind[]))];
  const { extension, write } = formats[options.format];
  const written: { readonly kind: ActorKind; readonly text: string }[] = [];
  for (const kind of kinds) written.push({ kind, text: await write(definitions[kind] as ActorDefinition) });
  if (options.output === undefined) {
    return output.answer(localAnswer('machines.export', { format: options.format, machines: written }), () =>
      written.flatMap(({ text }) => text.trimEnd().split('\n')),
    );
  }
  const files = fileNames(kinds, options.output, extension);
  written.forEach(({ text }, index) => {
    writeWhole(files[index] as string, text);
  });
  return output.answer(localAnswer('machines.export', { format: options.format, files }), () =>
    files.map((file) => line`wrote ${file}`),
  );
}

/** Several charts need a directory; one goes into a file unless the path is a directory already, or ends like one. */
function fileNames(kinds: readonly ActorKind[], path: string, extension: string): readonly string[] {
  const isInto = isFolder(path) ?? (kinds.length > 1 || path.endsWith('/'));
  if (!isInto && kinds.length > 1) {
    throw usage(`${path} is a file, and ${kinds.length} charts need a directory`, ['--output DIR', 'name one KIND']);
  }
  if (!isInto) return [path];
  makeFolder(path);
  return kinds.map((kind) => join(path, `${kind}.${extension}`));
}

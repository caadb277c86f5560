/** diagrams diff: what has changed in the charts since a revision, as a list and as pictures. No daemon is asked. */
import { join } from 'node:path';
import type { Command } from 'commander';
import type { OperatingError } from '../../actors/runtime/operatingError.ts';
import type { Charts } from '../../inspect/diagrams/revision.ts';
import { action } from '../action.ts';
import { usage } from '../failure.ts';
import { example } from '../globalOptions.ts';
import { type Invocation, localAnswer } from '../invocation.ts';
import { line } from '../print/escape.ts';
import type { Style } from '../print/style.ts';
import { makeFolder, writeWhole } from '../wholeFile.ts';

export function registerDiagrams(program: Command): void {
  const diagrams = program.command('diagrams').description('drawings of the charts');
  example(
    diagrams
      .command('diff')
      .description('what has changed in the charts since a revision of this program, one drawing for each')
      .argument('<revision>', 'a commit, branch or tag of the checkout')
      .option('--output <dir>', 'where the drawings go', '.')
      .action(action(diff)),
    'custody diagrams diff main --output /tmp/charts',
  );
}

interface ChangedMachine {
  readonly kind: string;
  readonly file: string;
  readonly changes: readonly string[];
}

async function diff({ output }: Invocation, options: { readonly output: string }, [revision = '']: readonly string[]) {
  const { chartsAt } = await import('../../inspect/diagrams/revision.ts');
  const charts = await chartsAt(revision, process.cwd());
  if ('unreadable' in charts) throw notReadable(charts.unreadable, revision);
  if ('missing' in charts) throw notThere(charts.missing, revision);
  output.status('drawing');
  const machines = await drawn(charts.found, options.output);
  return output.answer(
    localAnswer('diagrams.diff', { revision, commit: charts.commit, machines }),
    (data, style) => differenceLines(data, style),
    () => machines.map(({ kind }) => kind),
  );
}

async function drawn(found: Extract<Charts, { readonly commit: string }>['found'], folder: string) {
  const { definitions } = await import('../../machines/registry.ts');
  const { chartOf } = await import('../../inspect/diagrams/chart.ts');
  const { differenceOf } = await import('../../inspect/diagrams/difference.ts');
  const { placeChart } = await import('../../inspect/diagrams/layout.ts');
  const { svgOf } = await import('../../inspect/diagrams/svg.ts');
  const present = new Map(
    Object.values(definitions).map((definition) => [definition.kind as string, chartOf(definition)]),
  );
  const drawings = new Map<string, string>();
  const changed: ChangedMachine[] = [];
  for (const kind of new Set([...present.keys(), ...found.keys()])) {
    const { chart, changes, lines } = differenceOf(found.get(kind) ?? null, present.get(kind) ?? null);
    if (lines.length === 0) continue;
    const file = join(folder, `${kind}.diff.svg`);
    drawings.set(file, svgOf(await placeChart(chart), { changes, title: `What has changed in the chart of ${kind}` }));
    changed.push({ kind, file, changes: lines });
  }
  if (drawings.size > 0) makeFolder(folder);
  for (const [file, drawing] of drawings) writeWhole(file, drawing);
  return changed;
}

interface Told {
  readonly revision: string;
  readonly commit: string;
  readonly machines: readonly ChangedMachine[];
}

function differenceLines({ revision, commit, machines }: Told, style: Style): string[] {
  if (machines.length === 0) return [line`no chart has changed since ${revision} (${commit.slice(0, 12)})`];
  const paint = (text: string): string =>
    text.startsWith('+') ? style.green(text) : text.startsWith('-') ? style.red(text) : style.yellow(text);
  return machines.flatMap(({ kind, file, changes }) => [
    style.bold(line`${kind}: ${changes.length} change${changes.length === 1 ? '' : 's'}, drawn in ${file}`),
    ...changes.map((text) => `  ${paint(line`${text}`)}`),
  ]);
}

function notThere(missing: Extract<Charts, { readonly missing: string }>['missing'], revision: string): OperatingError {
  switch (missing) {
    case 'revision':
      return usage(`${JSON.stringify(revision)} names no commit of this checkout`, ['git log --oneline']);
    case 'checkout':
      return usage('this directory is not in a git checkout', ['cd to a checkout of Custody']);
    case 'charts':
      return usage(`${revision} has no charts in docs/protocol, so there is nothing to compare with`, [
        'name a later revision, in a checkout of Custody',
      ]);
    case 'git':
      return usage('git is not installed', ['install git']);
  }
}

const notReadable = (path: string, revision: string): OperatingError =>
  usage(`${path} of ${revision} is no chart that this program can read`, ['name another revision']);

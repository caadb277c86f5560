/** journal, artifacts: what is removed for good, and why the rest stays. */
import type { Command } from 'commander';
import { action } from '../action.ts';
import { parseWhole } from '../duration.ts';
import { example } from '../globalOptions.ts';
import type { Invocation } from '../invocation.ts';
import { artifactLines, checkpointLines, forgottenLines } from '../print/retention.ts';

const dryRunText = 'only say what would go';

export function registerJournal(program: Command): void {
  const journal = program
    .command('journal')
    .description('how long what was recorded stays (to read it: custody events)');
  example(
    journal
      .command('checkpoint')
      .description('shorten the journal: what nothing depends on, and nobody cites, goes')
      .option('--dry-run', dryRunText)
      .action(action(checkpoint)),
    'custody journal checkpoint --dry-run',
  );
  example(
    journal
      .command('forget-ids')
      .description(
        'forget the event ids that earlier starts of the daemon have numbered; a repeat of one is refused then',
      )
      .requiredOption('--keep-starts <n>', 'of so many of the newest starts they stay known', parseWhole(1, 1_000_000))
      .option('--dry-run', dryRunText)
      .action(action(forgetIds)),
    'custody journal forget-ids --keep-starts 20 --dry-run',
  );
}

export function registerArtifacts(program: Command): void {
  const artifacts = program.command('artifacts').description('how long output, transcripts and receipts stay');
  example(
    artifacts
      .command('retire')
      .description('remove the files of what is proved to be over')
      .option(
        '--older-than-hours <n>',
        'how long ago the proof has to be (default: artifactAgeHours of the configuration)',
        parseWhole(0, 1_000_000),
      )
      .option('--dry-run', dryRunText)
      .action(action(retire)),
    'custody artifacts retire --older-than-hours 720 --dry-run',
  );
}

interface DryRun {
  readonly dryRun?: boolean;
}

async function checkpoint(invocation: Invocation, { dryRun = false }: DryRun): Promise<number> {
  return invocation.output.answer(await invocation.call('journal.checkpoint', { dryRun }), checkpointLines);
}

async function forgetIds(
  invocation: Invocation,
  { keepStarts, dryRun = false }: DryRun & { readonly keepStarts: number },
): Promise<number> {
  return invocation.output.answer(await invocation.call('journal.forgetIds', { keepStarts, dryRun }), forgottenLines);
}

async function retire(
  invocation: Invocation,
  { olderThanHours, dryRun = false }: DryRun & { readonly olderThanHours?: number },
): Promise<number> {
  const args = { dryRun, ...(olderThanHours === undefined ? {} : { ageHours: olderThanHours }) };
  return invocation.output.answer(await invocation.call('artifacts.retire', args), artifactLines);
}

/** promote, promote budgets, promote compare: how far a repository has come on its way to the control of this program. */
import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import type { CallArguments } from '../../actors/daemon/api/contract.ts';
import { budgetNames } from '../../actors/promotion/budgetDefinitions.ts';
import { action } from '../action.ts';
import { parseWhole } from '../duration.ts';
import { usage } from '../failure.ts';
import { addRequestId, collect, example } from '../globalOptions.ts';
import { readInput } from '../input.ts';
import type { Invocation } from '../invocation.ts';
import { budgetLines, comparingLines, promotedLines, promotionLines, triageLines } from '../print/promotion.ts';
import { parseWallTime } from '../wallTime.ts';

type Stage = CallArguments<'promote.to'>['to'];

/** In their order. Their list in the store would take longer to load than the command. */
const stageNames = Object.keys({
  tracking: 1,
  comparing: 1,
  canary: 1,
  wide: 1,
  sole: 1,
} satisfies Readonly<Record<Stage, 1>>);
const repoFlag = ['--repo <path>', 'the repository, or any directory inside it (default: the current one)'] as const;

export function registerPromote(program: Command): void {
  const promote = addRequestId(
    program
      .command('promote')
      .description('how far a repository is on its way to the control of this program, and what its next stage needs'),
  )
    .option(...repoFlag)
    .addOption(new Option('--to <stage>', 'go to this stage: the next one, or any before').choices(stageNames))
    .option('--dry-run', 'only say whether it would')
    .addOption(
      new Option('--expect-version <n>', 'refuse if the stage has changed since').argParser(
        parseWhole(0, Number.MAX_SAFE_INTEGER),
      ),
    )
    .action(action(stage));
  example(promote, 'custody promote', 'custody promote --to comparing', 'custody promote --to canary --dry-run');
  // The repository may stand before the word of a subcommand as well as behind it.
  promote.hook('preSubcommand', (group, child) => {
    const repo = group.getOptionValue('repo');
    if (repo !== undefined && child.options.some(({ long }) => long === '--repo')) child.setOptionValue('repo', repo);
  });
  registerBudgets(promote);
  registerCompare(promote);
}

function registerBudgets(promote: Command): void {
  example(
    promote
      .command('budgets')
      .description('the figures that promotion compares with: show, measure, or set by hand')
      .option('--measure', 'set them to what was measured on this host, times the factor')
      .option('--factor <n>', 'how much worse it may become (default: 2)', parseFactor)
      .option('--set <name=value>', 'set one by hand; may be repeated', collect)
      .action(action(budgets)),
    'custody promote budgets',
    'custody promote budgets --measure --factor 3',
    'custody promote budgets --set pass_duration_p95=50',
  );
}

function registerCompare(promote: Command): void {
  example(
    promote
      .command('compare')
      .description('compare what the old system says became of runs with what was derived here')
      .option(...repoFlag)
      .option('--outcomes <file>', 'what it says, one JSON object a line: run, outcome, at; - for standard input')
      .option('--verified <file>', 'what somebody has verified independently of both, in the same form')
      .option('--triage <disagreement>', 'decide a disagreement that nothing decides by itself')
      .addOption(
        new Option('--verdict <verdict>', 'with --triage: who was wrong').choices([
          'ours_wrong',
          'theirs_wrong',
          'undecided',
        ]),
      )
      .option('--note-file <file>', 'with --triage: what the decision rests on, - for standard input')
      .action(action(compare)),
    'custody promote compare --outcomes outcomes.jsonl',
    'custody promote compare --outcomes outcomes.jsonl --verified verified.jsonl',
    'custody promote compare --triage D4k --verdict theirs_wrong --note-file note.txt',
  );
}

function parseFactor(text: string): number {
  const value = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && value >= 1 && value <= 100) return value;
  throw usage(`${JSON.stringify(text)} is no factor from 1 to 100`, ['custody promote budgets --measure --factor 2']);
}

interface StageOptions {
  readonly repo?: string;
  readonly to?: Stage;
  readonly dryRun?: boolean;
  readonly expectVersion?: number;
}

async function stage(invocation: Invocation, options: StageOptions): Promise<number> {
  const { repo = '.', to, dryRun = false, expectVersion } = options;
  const { output } = invocation;
  const path = resolve(repo);
  if (to === undefined) {
    if (dryRun || expectVersion !== undefined)
      throw usage('--dry-run and --expect-version go with --to', ['custody promote --to STAGE --dry-run']);
    return output.answer(await invocation.call('promote.show', { path }), promotionLines, (data) => [data.stage]);
  }
  const expected = expectVersion === undefined ? {} : { expectVersion };
  const { requestId } = invocation;
  const answer = await invocation.call('promote.to', { path, to, dryRun, ...expected, requestId });
  return output.answer(answer, promotedLines, (data) => [data.reportId ?? data.stage]);
}

interface BudgetOptions {
  readonly measure?: boolean;
  readonly factor?: number;
  readonly set?: readonly string[];
}

async function budgets(invocation: Invocation, { measure, factor, set }: BudgetOptions): Promise<number> {
  if (measure && set !== undefined)
    throw usage('--measure and --set are two decisions', ['custody promote budgets --help']);
  if (factor !== undefined && !measure) throw usage('--factor goes with --measure', ['custody promote budgets --help']);
  const named = (data: { readonly budgets: readonly { readonly name: string }[] }) =>
    data.budgets.map(({ name }) => name);
  const { output } = invocation;
  if (measure) {
    const times = factor === undefined ? {} : { factor };
    return output.answer(await invocation.call('promote.measure', times), budgetLines, named);
  }
  if (set !== undefined) {
    return output.answer(
      await invocation.call('promote.setBudgets', { values: set.map(parseSetting) }),
      budgetLines,
      named,
    );
  }
  return output.answer(await invocation.call('promote.budgets', {}), budgetLines, named);
}

type Setting = CallArguments<'promote.setBudgets'>['values'][number];

const isBudgetName = (name: string): name is Setting['name'] => (budgetNames as readonly string[]).includes(name);

function parseSetting(text: string): Setting {
  const [, name = '', figure = ''] = /^([a-z0-9_]+)=(\d+(?:\.\d+)?)$/.exec(text) ?? [];
  if (name === '') throw usage(`${JSON.stringify(text)} is not NAME=VALUE, with a figure`, ['custody promote budgets']);
  if (isBudgetName(name)) return { name, value: Number(figure) };
  throw usage(`there is no budget ${JSON.stringify(name)}: ${budgetNames.join(', ')}`, ['custody promote budgets']);
}

interface CompareOptions {
  readonly repo?: string;
  readonly outcomes?: string;
  readonly verified?: string;
  readonly triage?: string;
  readonly verdict?: CallArguments<'promote.triage'>['verdict'];
  readonly noteFile?: string;
}

const largestNote = 8_000;
const helpWithCompare = 'custody promote compare --help';

async function compare(invocation: Invocation, options: CompareOptions): Promise<number> {
  const { repo = '.', outcomes, verified, triage, verdict, noteFile } = options;
  const { output } = invocation;
  if (triage !== undefined || verdict !== undefined || noteFile !== undefined) {
    if (triage === undefined || verdict === undefined || noteFile === undefined)
      throw usage('--triage, --verdict and --note-file go together', [helpWithCompare]);
    const note = (await readInput('--note-file', noteFile, largestNote)).toString('utf8');
    if (note.trim() === '') throw usage('--note-file is empty: it says what the decision rests on', [helpWithCompare]);
    const answer = await invocation.call('promote.triage', { id: triage, verdict, note });
    return output.answer(answer, triageLines, (data) => [data.comparisonId]);
  }
  if (verified !== undefined && outcomes === undefined)
    throw usage('--verified says who was right; --outcomes says about what', [helpWithCompare]);
  const answer = await invocation.call('promote.compare', {
    path: resolve(repo),
    outcomes: outcomes === undefined ? [] : await readTold('--outcomes', outcomes),
    verified: verified === undefined ? [] : await readTold('--verified', verified),
  });
  return output.answer(answer, comparingLines, (data) => data.disagreements.map(({ comparisonId }) => comparisonId));
}

type Told = NonNullable<CallArguments<'promote.compare'>['outcomes']>[number];

const largestFile = 4_194_304;

async function readTold(option: string, file: string): Promise<Told[]> {
  const text = (await readInput(option, file, largestFile)).toString('utf8');
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    const told = parseTold(line);
    if (told !== undefined) return [told];
    throw usage(`${option} ${file}: line ${index + 1} is no outcome`, [
      'each line: {"run":"R…","outcome":"running|succeeded|failed|ended|never_ran|unknown","at":"2024-05-01T12:00:00Z"}',
      'run is an id, producer:run, or the launcher\'s own name with "producer":"shell" beside it',
    ]);
  });
}

/** What the words mean is for the daemon to check; here it only has to be a line of that form. */
function parseTold(line: string): Told | undefined {
  try {
    const { run, producer, outcome, at } = JSON.parse(line) as Record<string, unknown>;
    const atMs = typeof at === 'string' ? parseWallTime(at) : at;
    if (typeof run !== 'string' || typeof outcome !== 'string' || !Number.isSafeInteger(atMs)) return undefined;
    const named = producer === undefined ? {} : { producer: String(producer) };
    return { run, ...named, outcome: outcome as Told['outcome'], atMs: atMs as number };
  } catch {
    return undefined;
  }
}

/** promote, promote budgets and promote compare, as a shell meets them (PROMO-03, PROMO-04, PROMO-08, METR-02). */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { displayWidth } from '../../cli/print/displayWidth.ts';
import { columns } from '../../cli/print/wrap.ts';
import { type Installation, installation, refused } from './support/installation.ts';

let here: Installation;
let runId: string;

beforeAll(async () => {
  here = await installation();
}, 120_000);
afterAll(() => here.dispose());

const text = async (...args: string[]) => (await here.custody(args)).stdout;
const refusal = async (...args: string[]) => refused(await here.custody([...args, '--json']));

function file(name: string, ...lines: unknown[]): string {
  const path = join(here.dir, name);
  writeFileSync(path, lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''));
  return path;
}

it('shows stage, gate and what the next stage needs, and never says ready while anything lacks verification', async () => {
  const shown = await text('promote');
  expect(shown).toMatch(/stage +tracking \(nobody has set one\)/);
  expect(shown.replace(/\s+/g, ' ')).toMatch(/active use not_ready: .*no acceptance run was recorded/);
  expect(shown.split('\n').filter((line) => displayWidth(line) > columns && !line.startsWith('repository'))).toEqual(
    [],
  );
  expect(shown).not.toMatch(/\bready\b/);
  expect(shown).toMatch(/safety +acceptance safety +missing/);
  expect(shown).toContain('comparing needs:');
  expect(shown).toContain('try: custody worktrees register PATH');
});

it('promotes with a report, from any worktree of the repository, and refuses with everything that is missing', async () => {
  const { goalId, path } = await here.goalWithWorktree();
  runId = (await here.ask(['runs', 'exec', goalId, '--wait', '--', 'false'])).data.runId;
  expect(await text('promote', '--to', 'comparing', '--dry-run')).toContain('would go from tracking to comparing');
  const { data } = await here.ask(['promote', '--repo', path, '--to', 'comparing', '--expect-version', '0']);
  expect(data).toMatchObject({ stage: 'comparing', version: 1, reportId: expect.stringMatching(/^Y/) });
  expect((await here.ask(['promote'])).data).toMatchObject({ unitId: data.unitId, stage: 'comparing' });
  const error = await refusal('promote', '--to', 'canary');
  expect(error).toMatchObject({ code: 'promotion_refused', exitCode: 13 });
  for (const blocker of error.details.blockers) expect(blocker.next.length).toBeGreaterThan(0);
  expect(error.next).toContain('custody promote budgets --measure');
  const spoken = await here.custody(['promote', '--to', 'canary']);
  expect(spoken.stderr).toContain('no_budget: commit_latency_p95 has no budget');
  expect((await text('doctor')).replace(/\s+/g, ' ')).toContain('is in stage comparing; for active use: not_ready');
});

it('budgets are shown, set by hand, and measured only from enough values', async () => {
  expect(await text('promote', 'budgets')).toMatch(/commit_latency_p95 +none/);
  const missing = await refusal('promote', 'budgets', '--measure');
  expect(missing).toMatchObject({ code: 'samples_missing', exitCode: 13 });
  const set = await text('promote', 'budgets', '--set', 'commit_latency_p95=12.5', '--set', 'unknowns=3');
  expect(set).toMatch(/commit_latency_p95 +12.5 ms +by hand, /);
});

it('outcomes are compared from files, and a disagreement is decided with a note', async () => {
  const at = new Date().toISOString();
  const outcomes = file('outcomes.jsonl', { run: runId, outcome: 'succeeded', at }, '', {
    run: 'R\u001b[31mx',
    outcome: 'ended',
    at,
  });
  expect(await refusal('promote', 'compare', '--outcomes', outcomes)).toMatchObject({ exitCode: 2 });
  const good = file('good.jsonl', { run: runId, outcome: 'succeeded', at }, { run: 'nobody', outcome: 'ended', at: 5 });
  const compared = await here.custody(['promote', '--repo', here.repo, 'compare', '--outcomes', good]);
  expect(compared.stdout).toContain('not known here: nobody');
  expect(compared.stdout).toMatch(/D\w+ +R\w+ +failed +succeeded +failed +theirs wrong/);
  const [one] = (await here.ask(['promote', 'compare'])).data.disagreements;
  const note = file('note.txt', 'seen');
  const triage = ['promote', 'compare', '--triage', one.comparisonId, '--verdict', 'ours_wrong', '--note-file', note];
  expect(await refusal(...triage)).toMatchObject({ code: 'preconditions_unmet', exitCode: 13 });
  const beginning = triage.with(3, one.comparisonId.slice(0, 3));
  expect(await refusal(...beginning)).toMatchObject({ code: 'preconditions_unmet', exitCode: 13 });
  const nothing = triage.with(3, `${one.comparisonId}x`);
  expect(await refusal(...nothing)).toMatchObject({ exitCode: 3, next: ['custody promote compare'] });
  const empty = triage.with(-1, file('empty.txt'));
  expect(await refusal(...empty)).toMatchObject({ exitCode: 2, next: ['custody promote compare --help'] });
});

it.each([
  [['promote', '--to', 'everywhere']],
  [['promote', '--dry-run']],
  [['promote', 'budgets', '--set', 'nonsense']],
  [['promote', 'budgets', '--set', 'nobody_knows_it=3']],
  [['promote', 'budgets', '--measure', '--factor', '0']],
  [['promote', 'budgets', '--measure', '--set', 'unknowns=1']],
  [['promote', 'compare', '--triage', 'D1']],
  [['promote', 'compare', '--verified', '/nowhere']],
  [['promote', 'compare', '--outcomes', '/nowhere']],
])('what makes no sense is exit 2: %j', async (args) => {
  expect(await refusal(...args)).toMatchObject({ exitCode: 2 });
});

it('where there is no repository that is said', async () => {
  mkdirSync(join(here.dir, 'nothing'));
  expect(await refusal('promote', '--repo', join(here.dir, 'nothing'))).toMatchObject({
    code: 'not_a_repository',
    exitCode: 13,
  });
});

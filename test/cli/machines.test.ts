import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { actorKinds } from '../../machines/ids.ts';
import { mountedDisk } from '../support/mountedDisk.ts';
import { emptyHome, json, run } from './support/program.ts';

const home = emptyHome();
afterAll(() => home.remove());
const custody = (...words: string[]) => run(words, home);

describe('custody machines', () => {
  it('lists and shows the charts, with no daemon and no installation', async () => {
    expect((await custody('machines', 'list', '--quiet')).stdout.split('\n').filter(Boolean)).toEqual(actorKinds);
    const { data } = json(await custody('machines', 'show', 'run', '--json'));
    expect(data.chart).toMatchObject({ kind: 'run', root: { id: 'run', kind: 'parallel' } });
    const shown = await custody('machines', 'show', 'run');
    expect(shown.stdout).toContain('identity.bound [identityVerified] → lifecycle.bound / bindIdentity');
    expect(existsSync(home.stateDir)).toBe(false);
  });

  it('exports one chart into a file, several into a directory, and everything else to standard output', async () => {
    const file = join(home.dir, 'run.svg');
    expect(await custody('machines', 'export', 'run', '--format', 'svg', '--output', file)).toMatchObject({ code: 0 });
    expect(readFileSync(file, 'utf8')).toMatch(/^<svg xmlns/);
    const folder = join(home.dir, 'charts');
    await custody('machines', 'export', '--format', 'createMachine', '--output', folder);
    expect(readdirSync(folder).sort()).toEqual(actorKinds.map((kind) => `${kind}.ts`).sort());
    expect((await custody('machines', 'export', 'goal', '--format', 'scxml')).stdout).toMatch(/^<\?xml /);
    expect(await custody('machines', 'export', '--format', 'dot', '--output', file)).toMatchObject({ code: 2 });
    expect(await custody('machines', 'export', 'run')).toMatchObject({ code: 2 });
    expect(await custody('machines', 'export', 'nobody', '--format', 'dot')).toMatchObject({ code: 2 });
  });

  it('writes files whole or not at all, and says why not', async () => {
    const to = (path: string, ...kinds: string[]) =>
      custody('machines', 'export', ...kinds, '--format', 'svg', '--output', path, '--json');
    const folder = join(home.dir, 'small');
    const disk = await mountedDisk(folder, '64k');
    onTestFinished(() => disk.end());
    const [command = '', ...before] = disk.prefix;
    const small = execFileSync(command, [...before, 'sh', '-c', 'echo as it was >"$0"/goal.svg', folder]);
    expect(String(small)).toBe('');
    const full = await run(['machines', 'export', '--format', 'svg', '--output', folder, '--json'], {
      ...home,
      prefix: disk.prefix,
    });
    expect(full.code).toBe(2);
    expect(json(full)).toMatchObject({ error: { code: 'usage', message: expect.stringContaining('ENOSPC') } });
    expect(readFileSync(disk.inside(join(folder, 'goal.svg')), 'utf8')).toBe('as it was\n');
    expect(readdirSync(disk.inside(folder))).toEqual(['goal.svg']);

    const file = join(home.dir, 'linked.svg');
    writeFileSync(file, '', { mode: 0o640 });
    symlinkSync(file, join(home.dir, 'link.svg'));
    expect(await to(join(home.dir, 'link.svg'), 'run')).toMatchObject({ code: 0 });
    expect(readFileSync(file, 'utf8')).toMatch(/^<svg xmlns/);
    expect(statSync(file).mode & 0o777).toBe(0o640);
    for (const path of [join(home.dir, 'nowhere/run.svg'), '/proc/run.svg', '/dev/full', join(file, 'run.svg')])
      expect(await to(path, 'run'), path).toMatchObject({ code: 2 });
    expect(await to(join(file, 'below'))).toMatchObject({ code: 2 });
  });
});

describe('custody diagrams diff', () => {
  const checkout = join(home.dir, 'checkout');
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...words], {
      cwd: checkout,
      env: home.env,
      stdio: 'pipe',
    });
  const diff = (revision: string, cwd = checkout) =>
    run(['diagrams', 'diff', revision, '--output', 'drawn'], { ...home, cwd });

  it('draws what has changed since a revision, and says where there is nothing to compare', async () => {
    mkdirSync(join(checkout, 'docs', 'protocol'), { recursive: true });
    git('init', '-q');
    git('commit', '-q', '--allow-empty', '-m', 'nothing yet');
    git('tag', 'empty');
    const { data } = json(await custody('machines', 'export', '--format', 'json', '--json'));
    const charts = data.machines as readonly { readonly kind: string; readonly text: string }[];
    const write = () => {
      for (const { kind, text } of charts) writeFileSync(join(checkout, `docs/protocol/${kind}.chart.json`), text);
    };
    write();
    git('add', '-A');
    git('commit', '-qm', 'as it is');
    git('tag', 'same');
    const path = join(checkout, 'docs/protocol/run.chart.json');
    const chart = JSON.parse(readFileSync(path, 'utf8')) as { transitions: object[] };
    writeFileSync(path, JSON.stringify({ ...chart, transitions: chart.transitions.slice(1) }));
    git('commit', '-qam', 'one transition less');
    git('tag', 'less');

    const changed = await diff('less');
    expect(changed).toMatchObject({ code: 0, stderr: '' });
    expect(changed.stdout).toContain('run: 1 change, drawn in drawn/run.diff.svg');
    expect(changed.stdout).toContain('  + run.lifecycle on reservation.reported [missesReservation] stays');
    expect(readdirSync(join(checkout, 'drawn'))).toEqual(['run.diff.svg']);
    expect(readFileSync(join(checkout, 'drawn/run.diff.svg'), 'utf8')).toContain('class="added"');

    expect((await diff('same')).stdout).toMatch(/^no chart has changed since same \([0-9a-f]{12}\)\n$/);
    expect(await diff('empty')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no charts in docs/protocol'),
    });
    expect(await diff('nowhere')).toMatchObject({ code: 2, stderr: expect.stringContaining('names no commit') });
    expect(await diff('--upload-pack=x')).toMatchObject({ code: 2 });
    expect(await diff('same', home.dir)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('not in a git checkout'),
    });
  });

  it('draws nothing of what somebody else has written into a checkout, unless it is a chart', async () => {
    const folder = join(checkout, 'docs', 'protocol');
    mkdirSync(folder, { recursive: true });
    git('init', '-q');
    const { data } = json(await custody('machines', 'export', 'run', '--format', 'json', '--json'));
    const chart = JSON.parse(data.machines[0].text);
    const elsewhere = { ...chart, kind: '../../elsewhere' };
    const texts = ['null', '5', '{', '{}', '{"kind":"run"}', '{"kind":"run","root":{"id":"run","children":null}}'];
    for (const text of [...texts, JSON.stringify(elsewhere), JSON.stringify({ ...chart, transitions: [null] })]) {
      writeFileSync(join(folder, 'run.chart.json'), text);
      git('add', '-A');
      git('commit', '-qm', 'strange');
      const refused = await run(['diagrams', 'diff', 'HEAD', '--output', 'a/b', '--json'], { ...home, cwd: checkout });
      expect({ text, code: refused.code }).toEqual({ text, code: 2 });
      expect(json(refused).error?.message).toContain('docs/protocol/run.chart.json of HEAD is no chart');
    }
    expect(existsSync(join(checkout, 'a'))).toBe(false);
    expect(readdirSync(checkout).filter((name) => name.includes('elsewhere'))).toEqual([]);
  });
});

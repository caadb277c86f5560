/** worktrees register, authority, ticket, retire, and the executors, as a shell meets them. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Installation, installation, refused } from './support/installation.ts';

let here: Installation;
let theirs: string;
let id: string;

beforeAll(async () => {
  here = await installation();
  theirs = join(here.dir, 'theirs');
  execFileSync('git', ['worktree', 'add', '-q', '-b', 'theirs', theirs], { cwd: here.repo, env: here.env });
  id = (await here.ask(['worktrees', 'register', theirs])).data.generationId;
}, 120_000);
afterAll(() => here.dispose());

const lines = async (...args: string[]) => (await here.custody(args)).stdout;
const refusal = async (...args: string[]) => refused(await here.custody([...args, '--json']));

function executor(name: 'custody-archive' | 'custody-remove', ...args: string[]) {
  const program = fileURLToPath(new URL(`../../dist/${name}.cjs`, import.meta.url));
  return spawnSync(process.execPath, [program, ...args], { encoding: 'utf8', env: here.env });
}

describe('a worktree of others', () => {
  it('is shown with its controller, and told again when it is known', async () => {
    expect(await lines('worktrees', 'register', theirs)).toBe(
      `${id} observe (controller legacy), known already: ${theirs}\n`,
    );
    expect(await lines('worktrees', 'show', id)).toMatch(/authority +observe \(controller legacy, origin legacy\)/);
  });

  it('is refused to whoever is not in control, with exit 4 and a way on', async () => {
    for (const args of [
      ['close', id],
      ['seal', id],
      ['ticket', id, '--executor', 'custody-remove'],
      ['authority', id, 'handoff', '--to', 'ci'],
    ]) {
      const error = await refusal('worktrees', ...args);
      expect(error).toMatchObject({ code: 'not_controller', exitCode: 4 });
      expect(error.next[0]).toContain(`custody worktrees authority ${id} migrate`);
    }
  });

  it('is not taken over without evidence, and says what is missing', async () => {
    const error = await refusal('worktrees', 'authority', id, 'migrate');
    expect(error).toMatchObject({ code: 'migration_refused', exitCode: 13 });
    expect(error.details.blockers[0]).toMatchObject({ code: 'no_evidence' });
    const read = await here.custody(['worktrees', 'authority', id, 'migrate']);
    expect(read.stderr).toContain('no_evidence: nothing says what the new contract rests on');
  });

  it.each([
    [['worktrees', 'authority', 'W', 'steal'], 'usage'],
    [['worktrees', 'authority', 'W', 'migrate', '--expect-version', 'x'], 'usage'],
    [['worktrees', 'ticket', 'W'], 'usage'],
    [['worktrees', 'ticket', 'W', '--executor', 'Not A Name'], 'invalid_event'],
    [['worktrees', 'ticket', 'W', '--executor', 'custody-remove', '--expires', '10'], 'usage'],
    [['worktrees', 'retire', 'W'], 'usage'],
    [['worktrees', 'retire', 'W', '--receipt', '/nowhere/receipt'], 'usage'],
    [['worktrees', 'register'], 'usage'],
  ])('what makes no sense is exit 2: %j', async (args, code) => {
    expect(await refusal(...args)).toMatchObject({ code, exitCode: 2 });
  });
});

describe('from control to the end', () => {
  it('each step names the next, for people and for programs', async () => {
    await here.ask(['contract', 'verify']);
    const { version } = (await here.ask(['worktrees', 'show', id])).data;
    const stale = await refusal('worktrees', 'authority', id, 'migrate', '--evidence', 'e', '--expect-version', '1');
    expect(stale).toMatchObject({ code: 'version_conflict', exitCode: 11 });
    const args = ['worktrees', 'authority', id, 'migrate', '--evidence', 'a', '--evidence', 'b'];
    const taken = await lines(...args, '--expect-version', String(version));
    expect(taken).toMatch(/evidence +a, b/);
    expect(taken).toMatch(/authority +managed \(controller custody/);

    const leaving = await here.custody(['worktrees', 'authority', id, 'handoff', '--to', 'ci']);
    expect(leaving.code).toBe(5);
    expect(leaving.stderr).toContain('control stays until this is settled: the generation is open');
    expect(leaving.stdout).toMatch(/handoff +to ci, waits: the generation is open/);
    expect((await here.custody(['worktrees', 'authority', id, 'abandon'])).code).toBe(0);

    expect(await lines('worktrees', 'close', id)).toContain(`next: custody worktrees seal ${id}`);
    expect(await lines('worktrees', 'seal', id)).toContain(`next: custody worktrees ticket ${id}`);
    const mistyped = await here.custody(['worktrees', 'ticket', id, '--executor', 'custody-arch']);
    expect(mistyped.stderr).toContain(
      'Custody has no executor custody-arch; it has custody-archive and custody-remove',
    );
    const issued = await lines('worktrees', 'ticket', id, '--executor', 'custody-archive', '--expires', '1h');
    const [, file = ''] = /next: custody-archive (\S+)/.exec(issued) ?? [];
    const done = executor('custody-archive', file);
    expect(done).toMatchObject({ status: 0, stderr: '' });
    expect(done.stdout).toContain(`archived: ${theirs} is `);
    expect(existsSync(theirs)).toBe(false);
    const [, receipt = ''] = /--receipt (\S+)/.exec(done.stdout) ?? [];
    writeFileSync(`${receipt}.forged`, '{}');
    const forged = await refusal('worktrees', 'retire', id, '--receipt', `${receipt}.forged`);
    expect(forged).toMatchObject({ code: 'receipt_refused', exitCode: 13, details: { reason: 'unreadable' } });
    expect(await lines('worktrees', 'retire', id, '--receipt', receipt)).toMatch(/lifecycle +retired/);
    expect(executor('custody-archive', file, '--json')).toMatchObject({ status: 13 });
  });
});

describe('an executor', () => {
  it.each([[[]], [['a', 'b']], [['--force', 'a']], [['/nowhere/ticket']]])('%j is exit 2', (args) => {
    const { status, stdout } = executor('custody-remove', ...args, '--json');
    expect(status).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { code: 'usage' } });
  });

  it('refuses what is no ticket with a reason and a way on', () => {
    const file = join(here.dir, 'no-ticket');
    writeFileSync(file, '{"version":2}');
    const { status, stderr } = executor('custody-remove', file);
    expect(status).toBe(13);
    expect(stderr).toContain('the ticket is refused: it is no ticket');
    expect(stderr).toContain('try: custody worktrees ticket');
  });
});

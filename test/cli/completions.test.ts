import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { emptyHome, type Home } from './support/program.ts';
import { offered, type Shell } from './support/shells.ts';

const shells: readonly Shell[] = ['bash', 'zsh', 'fish'];
let home: Home;

beforeAll(() => {
  home = emptyHome();
  mkdirSync(join(home.dir, 'files', 'sub dir'), { recursive: true });
  writeFileSync(join(home.dir, 'files', 'request.md'), '');
});
afterAll(() => home.remove());

describe.each(shells)('%s', (shell) => {
  const offers = (line: string) => offered(shell, line, { home, cwd: join(home.dir, 'files') }).sort();

  it('offers commands', () => {
    expect(offers('custody go')).toEqual(['goals']);
    expect(offers('custody goals ')).toEqual(['add', 'cancel', 'list', 'queue', 'show']);
    expect(offers('custody --json wor')).toEqual(['worktrees']);
    expect(offers('custody completions ')).toEqual(['bash', 'fish', 'zsh']);
    expect(offers('custody help ru')).toEqual(['runs']);
    expect(offers('custody sessions s')).toEqual(['screen', 'send', 'show', 'stop']);
  });

  it('offers the options of the command at hand', () => {
    expect(offers('custody goals add --pr')).toEqual(['--priority']);
    expect(offers('custody runs logs --fo')).toEqual(['--follow']);
    expect(offers('custody status --pr')).toEqual([]);
  });

  it('offers the values that an option may have', () => {
    expect(offers('custody runs exec --on-root-exit ')).toEqual(['terminate', 'wait']);
    expect(offers('custody runs wait --until pr')).toEqual(['proved']);
    expect(offers('custody goals add --request req')).toEqual(['request.md']);
    expect(offers('custody sessions export --format as')).toEqual(['asciicast']);
  });

  it('takes the value of an option for no operand', () => {
    expect(offers('custody --state-dir elsewhere goals qu')).toEqual(['queue']);
  });

  it('offers programs behind --', () => {
    expect(offers('custody runs exec G1 -- custo')).toEqual(['custody']);
  });

  it('offers nothing, quietly, for ids when no daemon serves', () => {
    expect(offers('custody goals show ')).toEqual([]);
  });
});

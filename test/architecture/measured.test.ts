/** INT-13: pages tell what is intended from what was measured, and what they say was measured is what is tried today. */
import { describe, expect, it } from 'vitest';
import { faults, verified } from '../../cli/acceptance/matrix.ts';
import { readProject } from './project.ts';

const project = readProject();
const textOf = (path: string): string => project.find((file) => file.path === path)?.text ?? '';
const cellsOf = (page: string): string[][] =>
  page
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| row'))
    .map((line) => line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '')));

const acceptance = textOf('docs/acceptance.md');

describe('INT-13: pages that say what was measured', () => {
  it.each(['docs/acceptance.md', 'docs/soak.md'])('%s says so, when, and on what', (path) => {
    const page = textOf(path);
    expect(page).toContain('measured, not intended');
    expect(page).toMatch(/^\d{4}-\d\d-\d\d, Linux \S+, \d+ processors, Node v\d+\.\d+\.\d+/m);
  });

  it('the acceptance page has a row for each of the matrix, and no other, with what is required today', () => {
    const rows = cellsOf(acceptance).map(([id, fault, required]) => ({ id, fault, required }));
    expect(rows).toEqual([...faults, ...verified]);
  });

  it('each of its rows says what was observed, and how it ended; what was not run is named apart', () => {
    for (const [id, , , observed = '', verdict = ''] of cellsOf(acceptance)) {
      expect(observed).not.toBe('');
      expect(verdict).toMatch(/^(passed|\*\*failed\*\*|not run)$/);
      const [, notRun = ''] = acceptance.split('## What was not run');
      expect(notRun.includes(`- ${id}:`)).toBe(verdict === 'not run');
    }
    const isReady = cellsOf(acceptance).every((cells) => cells.at(-1) === 'passed');
    expect(acceptance).toContain(isReady ? '**Ready**' : '**Not ready**');
  });

  it('every test that the soak page names is there', () => {
    const named = new Set([...textOf('docs/soak.md').matchAll(/^\| (test\/\S+) \|/gm)].map(([, path]) => path!));
    expect(named.size).toBeGreaterThan(0);
    const paths = new Set(project.map(({ path }) => path));
    expect([...named].filter((path) => !paths.has(path))).toEqual([]);
  });

  it('README says which page is which', () => {
    const readme = textOf('README.md');
    for (const page of ['docs/acceptance.md', 'docs/soak.md', 'docs/notes.md', 'docs/retention.md'])
      expect(readme).toContain(`(${page})`);
  });
});

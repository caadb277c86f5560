/** What stands in a source: taken as it is, or named with its place and kept out (INT-07). */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { listingOfDocument } from '../../../actors/ingest/legacy/document.ts';
import { type Entry, isUnusable } from '../../../actors/ingest/legacy/listing.ts';
import { listingOfPorcelain } from '../../../actors/ingest/legacy/porcelain.ts';

const document = (parts: object): string => JSON.stringify({ format: 'custody-legacy/1', tool: 'herd', ...parts });
const problemsOf = (entries: readonly Entry[]) => entries.flatMap((one) => (isUnusable(one) ? one.problems : []));
const run = { id: 'r' };

describe('custody-legacy/1', () => {
  it('is what its page shows', () => {
    const page = readFileSync(new URL('../../../docs/import.md', import.meta.url), 'utf8');
    const [, example] = /```json\n(.*?)```/s.exec(page)!;
    expect(listingOfDocument(example!).entries.filter(isUnusable)).toEqual([]);
  });

  it('lists worktrees, runs and bindings with their places in the document', () => {
    const worktrees = [{ id: 'w', path: '/srv/w', branch: 'main', commit: 'a'.repeat(40) }];
    const runs = [{ id: 'r/1', retryOf: 'r/0', startedWallMs: 1, endedWallMs: 2, exit: { code: 0 } }];
    const listing = listingOfDocument(document({ worktrees, runs, bindings: [{ run: 'r/1', worktree: 'w' }] }));
    expect(listing.tool).toBe('herd');
    expect(listing.entries).toMatchObject([
      { kind: 'worktree', at: '/worktrees/0', name: 'w', path: '/srv/w', branch: 'main' },
      { kind: 'run', at: '/runs/0', record: { retryOf: 'r/0', exit: { code: 0, signal: null }, process: null } },
      { kind: 'binding', at: '/bindings/0', record: { run: 'r/1', worktree: 'w' } },
    ]);
  });

  it('means the same by a field that is null and one that is left out', () => {
    const digests = [run, { ...run, exit: null, process: null, retryOf: null }].map((one) => {
      const [entry] = listingOfDocument(document({ runs: [one] })).entries;
      return entry?.kind === 'run' && !isUnusable(entry) ? entry.record.digest : undefined;
    });
    expect(digests[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(digests[1]).toBe(digests[0]);
  });

  it.each<readonly [string, object, readonly string[]]>([
    ['an unknown field', { ...run, command: 'rm -rf SECRET' }, ['/runs/0/command: unknown_field']],
    ['one further down', { ...run, process: { pid: 1, argv: ['SECRET'] } }, ['/runs/0/process/argv: unknown_field']],
    ['a name with a slash', { ...run, 'a/~b': 1 }, ['/runs/0/a~1~0b: unknown_field']],
    ['no id', {}, ['/runs/0/id: missing_field']],
    ['an id that is a text', { id: 'fix the bug' }, ['/runs/0/id: wrong_form']],
    ['a pid of nobody', { ...run, process: { pid: 0 } }, ['/runs/0/process/pid: too_small']],
    ['a pid that is a text', { ...run, process: { pid: '1' } }, ['/runs/0/process/pid: wrong_type']],
    ['ticks as a number', { ...run, process: { pid: 1, startTicks: 5 } }, ['/runs/0/process/startTicks: wrong_type']],
    ['an exit code of none', { ...run, exit: { code: 256 } }, ['/runs/0/exit/code: too_large']],
    ['a time before all time', { ...run, startedWallMs: -1 }, ['/runs/0/startedWallMs: too_small']],
    ['a time that is a date', { ...run, startedWallMs: '2020-01-01' }, ['/runs/0/startedWallMs: wrong_type']],
  ])('names the place of %s, and never what stood there', (_, given, problems) => {
    const { entries } = listingOfDocument(document({ runs: [given, { id: 'good' }] }));
    expect(problemsOf(entries)).toEqual(problems);
    expect(JSON.stringify(problems)).not.toContain('SECRET');
    expect(entries[1]).toMatchObject({ kind: 'run', name: 'good' });
  });

  it('takes no record, and no frame, that says a thing twice', () => {
    const frame = '"format":"custody-legacy/1","tool":"herd"';
    const twice = `{${frame},"runs":[{"id":"a","process":{"pid":1,"pid":2}},{"id":"b"},{"id":"c","id":"d"}]}`;
    expect(problemsOf(listingOfDocument(twice).entries)).toEqual([
      '/runs/0/process/pid: repeated_field',
      '/runs/2/id: repeated_field',
    ]);
    expect(() => listingOfDocument(`{${frame},"runs":[],"runs":[{"id":"a"}]}`)).toThrow('/runs: repeated_field');
  });

  it.each<readonly [string, string, string]>([
    ['nothing', '', 'line 1, column 1'],
    ['half a document', '{"format":', 'line 1'],
    ['a comment', '{ // no\n}', 'invalid comment token'],
    ['something behind it', `${document({})} {}`, 'line 1'],
    ['a list', '[]', '/: wrong_type'],
    ['another format', '{"format":"custody-legacy/2","tool":"herd"}', '/format: not_allowed'],
    ['no tool', '{"format":"custody-legacy/1"}', '/tool: missing_field'],
    ['our own name', '{"format":"custody-legacy/1","tool":"custody"}', '/tool: not_allowed'],
    ['a field that is none', document({ sessions: [] }), '/sessions: unknown_field'],
    ['a prototype', '{"format":"custody-legacy/1","tool":"herd","__proto__":{}}', '__proto__'],
    ['runs that are no list', document({ runs: {} }), '/runs: wrong_type'],
    ['too many records', document({ runs: Array.from({ length: 100_001 }, () => 0) }), 'more than 100000 records'],
    ['a nest', `${'['.repeat(200_000)}${']'.repeat(200_000)}`, 'nested too deeply'],
  ])('refuses %s as a whole, with the place', (_, text, place) => {
    expect(() => listingOfDocument(text)).toThrow(place);
  });
});

describe('git-worktree-porcelain', () => {
  const head = `HEAD ${'a'.repeat(40)}`;
  const lines = [
    ...['worktree /srv/bare', 'bare', ''],
    ...['worktree /srv/a b', head, 'branch refs/heads/feature/x', ''],
    ...['worktree /srv/c', `HEAD ${'0'.repeat(40)}`, 'detached', 'locked on a SECRET stick', ''],
    ...['worktree /srv/d', head, 'detached', 'locked', 'prunable gitdir file points to non-existent location', ''],
  ];
  const expected = [
    { path: '/srv/bare', isBare: true, commit: null },
    { path: '/srv/a b', isBare: false, branch: 'feature/x', commit: 'a'.repeat(40), remarks: [] },
    { path: '/srv/c', branch: null, commit: null, remarks: ['detached', 'locked'] },
    { path: '/srv/d', remarks: ['detached', 'locked', 'prunable'] },
  ];

  it.each([
    ['lines', '\n'],
    ['-z', '\0'],
  ])('is read with %s', (_, end) => {
    const { tool, entries } = listingOfPorcelain(Buffer.from(lines.map((line) => line + end).join('')));
    expect(tool).toBe('git');
    expect(entries).toMatchObject(expected);
    expect(JSON.stringify(entries)).not.toContain('SECRET');
  });

  it('knows a path with a line feed by -z alone, and takes it for no other path without', () => {
    const fields = ['worktree /srv/a\nb', head, 'detached', '', 'worktree /srv/c', head, 'detached', ''];
    expect(listingOfPorcelain(Buffer.from(`${fields.join('\0')}\0`)).entries[0]).toMatchObject({ path: '/srv/a\nb' });
    const { entries } = listingOfPorcelain(Buffer.from(`${fields.join('\n')}\n`));
    expect(problemsOf(entries)).toEqual(['line 1: unknown_attribute']);
    expect(entries[1]).toMatchObject({ path: '/srv/c', at: 'line 6' });
  });

  it.each<readonly [string, readonly string[], string]>([
    ['an attribute that is none', ['worktree /a', 'colour blue'], 'line 1: unknown_attribute'],
    ['a head that is none', ['worktree /a', 'HEAD main'], 'line 1: HEAD: wrong_form'],
    ['a branch without a name', ['worktree /a', head, 'branch refs/heads/'], 'line 1: branch: wrong_form'],
    ['a relative path', ['worktree a', head], 'line 1: no_absolute_path'],
  ])('names %s', (_, given, problem) => {
    expect(problemsOf(listingOfPorcelain(Buffer.from(`${given.join('\n')}\n`)).entries)).toEqual([problem]);
  });

  it('names a path that is not UTF-8', () => {
    const odd = Buffer.concat([
      Buffer.from(`worktree /a\n${head}\n\nworktree /b`),
      Buffer.from([0xff]),
      Buffer.from('\n'),
    ]);
    expect(problemsOf(listingOfPorcelain(odd).entries)).toEqual(['line 4: not_utf8']);
  });

  it.each([
    ['nothing', ''],
    ['empty lines', '\n\n'],
    ['something else', 'fatal: not a git repository\n'],
  ])('refuses %s as a whole', (_, text) => {
    expect(() => listingOfPorcelain(Buffer.from(text))).toThrow('no output of git worktree list --porcelain');
  });
});

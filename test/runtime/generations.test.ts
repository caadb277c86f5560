/** Which generation a directory is (WT-01). */
import { describe, expect, it } from 'vitest';
import { generationAt, type Registration, registrationOf, replacementsAt } from '../../actors/runtime/generations.ts';
import { linksOf } from '../../machines/definition.ts';
import type { GenerationId } from '../../machines/ids.ts';
import type { Place } from '../../machines/note.ts';
import { protocol } from '../../machines/protocol.ts';
import type { GenerationSnapshot } from '../../machines/worktreeGeneration.ts';
import { testHost } from '../host/support/testHost.ts';

const place: Place = { path: '/src/one', dev: '1', ino: '2', born: '3', gitdir: '/src/.git/worktrees/one' };

const registration = (generationId: string, rest: Partial<Registration> = {}) =>
  registrationOf({
    generationId: generationId as GenerationId,
    place,
    origin: 'observed',
    controller: 'others',
    by: 'test',
    ...rest,
  });

const idAt = (host: Parameters<typeof generationAt>[0], of: Partial<Place> = {}) =>
  generationAt(host, { ...place, ...of })?.context.generationId;

async function registeredHost(rest: Partial<Registration> = {}) {
  const { host, store } = testHost({ ...protocol });
  await host.submit([registration('W1', rest)]);
  return { host, store };
}

describe('a generation is found by its physical place', () => {
  it('whatever the path is, and nothing else is taken for it', async () => {
    const { host } = await registeredHost();
    expect(idAt(host)).toBe('W1');
    expect(idAt(host, { path: '/elsewhere' })).toBe('W1');
    expect(idAt(host, { born: null })).toBe('W1');
    for (const other of [{ dev: '9' }, { ino: '9' }, { born: '9' }, { gitdir: '/src/.git/worktrees/two' }])
      expect(idAt(host, other)).toBeUndefined();
  });

  it('where no birth time was known, whatever it is', async () => {
    const { host } = await registeredHost({ place: { ...place, born: null } });
    expect(idAt(host, { born: '9' })).toBe('W1');
  });

  it('the newest of several, and none that was retired', async () => {
    const { host } = await registeredHost();
    await host.submit([registration('W2')]);
    expect(idAt(host)).toBe('W2');
  });

  it('also in the row of a program that knew of no such link', async () => {
    const old = {
      ...protocol.definitions.worktreeGeneration,
      version: 2,
      links: ({ context: { repoId, goalId } }: GenerationSnapshot) => linksOf({ repoId, goalId }),
      upcasters: {},
    };
    const definitions = { ...protocol.definitions, worktreeGeneration: old as never };
    const before = testHost({ ...protocol, definitions });
    await before.host.submit([registration('W1')]);
    await before.host.close();
    const { host } = testHost({ ...protocol, store: before.store });
    expect(host.linked('worktreeGeneration', 'place', '1:2')).toEqual([]);
    // Version 2 knew of no birth time.
    expect(idAt(host, { born: '9' })).toBe('W1');
    expect(idAt(host, { ino: '9' })).toBeUndefined();
    const said = { result: 'same' };
    const actor = { kind: 'worktreeGeneration', id: 'W1' };
    await host.submit([{ type: 'path.observed', actor, producer: { kind: 'test', id: 't' }, payload: said }]);
    expect(host.linked('worktreeGeneration', 'place', '1:2')).toEqual(['W1']);
    expect(idAt(host)).toBe('W1');
  });
});

describe('what was made anew at a path', () => {
  it('is told to the generations that were there, once', async () => {
    const { host } = await registeredHost();
    expect(replacementsAt(host, place, 'test')).toEqual([]);
    expect(replacementsAt(host, { ...place, path: '/elsewhere', born: '9' }, 'test')).toEqual([]);
    const drafts = replacementsAt(host, { ...place, born: '9' }, 'test');
    expect(drafts).toMatchObject([{ type: 'path.observed', actor: { id: 'W1' }, payload: { result: 'replaced' } }]);
    await host.submit(drafts);
    expect(replacementsAt(host, { ...place, born: '9' }, 'test')).toEqual([]);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Installation, installation, refused } from './support/installation.ts';
import { withJson } from './support/program.ts';

let here: Installation;
beforeAll(async () => {
  here = await installation();
});
afterAll(() => here.dispose());

describe('what does not exist', () => {
  it.each([
    ['goals', 'show', 'Gnothing'],
    ['goals', 'queue', 'Gnothing'],
    ['worktrees', 'show', 'Wnothing'],
    ['worktrees', 'add', 'Gnothing'],
    ['runs', 'show', 'Rnothing'],
    ['runs', 'stop', 'Rnothing'],
    ['runs', 'wait', 'Rnothing'],
    ['runs', 'logs', 'Rnothing'],
    ['runs', 'exec', 'Gnothing', '--', 'true'],
    ['sessions', 'show', 'Pnothing'],
    ['sessions', 'send', 'Pnothing', 'text'],
    ['sessions', 'wait', 'Pnothing', '--exit'],
    ['sessions', 'resize', 'Pnothing', '80x24'],
    ['sessions', 'stop', 'Pnothing'],
    ['sessions', 'tail', 'Pnothing'],
    ['sessions', 'screen', 'Pnothing'],
  ])('%s %s %s exits 3 with the list to look at', async (...args) => {
    const finished = await here.custody(withJson(args));
    expect(refused(finished)).toMatchObject({
      code: 'not_found',
      exitCode: 3,
      next: [expect.stringMatching(/ list( --all)?$/)],
    });
  });
});

it('an id of another kind is told from one that nothing has', async () => {
  const message = async (id: string) => refused(await here.custody(withJson(['runs', 'show', id]))).message;
  expect(await message('Pnothing')).toBe('no run matches "Pnothing"; P is the first letter of a session\'s id');
  const nobody = refused(await here.custody(withJson(['events', '--actor', 'Xnothing'])));
  expect(nobody).toMatchObject({ code: 'not_found', next: ['custody events'] });
  expect(await message('Rnothing')).toBe('no run matches "Rnothing"');
});

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
  ])('%s %s %s exits 3 with the list to look at', async (...args) => {
    const finished = await here.custody(withJson(args));
    expect(refused(finished)).toMatchObject({
      code: 'not_found',
      exitCode: 3,
      next: [expect.stringMatching(/ list$/)],
    });
  });
});

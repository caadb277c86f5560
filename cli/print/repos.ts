/** Registered repositories. */
import type { RepositoryView } from '../../actors/daemon/api/views.ts';
import { age } from './quantity.ts';
import type { Style } from './style.ts';
import { table } from './table.ts';

export const repositoryLines = (repositories: readonly RepositoryView[], style: Style): string[] =>
  table({
    heading: ['repository', 'added', 'path'],
    rows: repositories.map(({ repoId, addedAt, path }) => [repoId, age(addedAt), path]),
    empty: 'no repositories; try: custody repos add PATH',
    style,
  });

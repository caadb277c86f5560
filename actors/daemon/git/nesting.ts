/**
 * Worktrees lie beside each other, never in each other and never in a git directory: what removes or seals the outer one
 * would take the inner one along, and git reads what it finds in its own directory. Judged by real paths.
 */
import { realpathSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { isGitDirectory } from '../../runtime/locate.ts';
import { OperatingError } from '../../runtime/operatingError.ts';

export interface Neighbour {
  readonly generationId: string;
  readonly path: string;
}

/**
 * `path` need not exist. A path that is a neighbour's own is for others to refuse. Throws `path_nested` (exit 13).
 */
export function assertBeside(path: string, neighbours: Iterable<Neighbour>): void {
  const real = realPathOf(path);
  for (const { generationId, path: theirs } of neighbours) {
    const other = realPathOf(theirs);
    if (isBelow(real, other)) throw nested(path, `inside the worktree of ${generationId}`, { generationId });
    if (isBelow(other, real)) throw nested(path, `around the worktree of ${generationId}`, { generationId });
  }
  for (let above = dirname(real); above !== dirname(above); above = dirname(above)) {
    if (isReadableGitDirectory(above)) throw nested(path, `inside the git directory ${above}`, { gitDirectory: above });
  }
}

const isBelow = (path: string, above: string): boolean => path.startsWith(above.endsWith(sep) ? above : above + sep);

/** As far as it exists with every link resolved; what is still to be made is taken as it is written. */
function realPathOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPathOf(parent), basename(path));
  }
}

function isReadableGitDirectory(directory: string): boolean {
  try {
    return isGitDirectory(directory);
  } catch {
    return false;
  }
}

const nested = (path: string, where: string, details: Readonly<Record<string, unknown>>): OperatingError =>
  new OperatingError({
    code: 'path_nested',
    message: `${JSON.stringify(path)} would lie ${where}`,
    exitCode: 13,
    next: ['choose another --path'],
    details,
  });

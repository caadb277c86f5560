/** What a worker is there for: the node that it works for and the checks that are configured (WRK-02, WRK-04). */
import { canonicalDigest } from '../../../machines/canonical.ts';
import type { CommandTable } from '../configParameters.ts';

/** Two daemons with the same answer mean the same work; undefined where nothing is configured to be worked on. */
export function targetOf(nodeId: string, checks: CommandTable): string | undefined {
  if (Object.keys(checks).length === 0) return undefined;
  return `checks:${canonicalDigest({ nodeId, checks }).slice(0, 16)}`;
}

/** The check of a repository: its own, or the one for all. */
export function checkOf(checks: CommandTable, repositoryPath: string): readonly string[] | undefined {
  return Object.hasOwn(checks, repositoryPath) ? checks[repositoryPath] : checks['*'];
}

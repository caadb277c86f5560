/**
 * What a workload is started with. A recipe travels over the socket and lives in memory only: the journal gets its
 * digest, never the command line, an environment value or standard input (PRIV-01, ruling 23).
 */
import { createHash } from 'node:crypto';
import type { Grant } from '../../runtime/credentials.ts';

export interface Recipe {
  /** argv[0] is looked up in the PATH of `env`. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Absolute. */
  readonly cwd: string;
  readonly umask: number;
  /** Bytes of standard input; null means /dev/null. */
  readonly stdin: Buffer | null;
  /** Where it is to run in a terminal of its own instead of into files. */
  readonly terminal?: TerminalRecipe | undefined;
  /** Set where the scheduling worker starts the guardian, nested in its own scope. */
  readonly startedBy?: 'worker' | undefined;
}

export interface TerminalRecipe {
  readonly sessionId: string;
  readonly cols: number;
  readonly rows: number;
  /** Its TERM. */
  readonly term: string;
  readonly grants: readonly Grant[];
  readonly recorded: boolean;
  /** Of the schema that its result has to fit. */
  readonly schemaDigest?: string | undefined;
}

/** Lowercase hex SHA-256 over length-prefixed parts, so that no two recipes share a spelling. */
export function recipeDigest(recipe: Recipe): string {
  const hash = createHash('sha256');
  const part = (bytes: Buffer | string) => {
    const buffer = Buffer.from(bytes);
    hash.update(`${buffer.length}:`).update(buffer);
  };
  part(recipe.cwd);
  part(String(recipe.umask));
  for (const argument of recipe.argv) part(argument);
  for (const [name, value] of Object.entries(recipe.env).sort(([a], [b]) => (a < b ? -1 : 1))) part(`${name}=${value}`);
  part(recipe.stdin ?? '');
  // Absent parts add nothing, so that requests of earlier versions keep their digests.
  if (recipe.terminal) part(`terminal ${recipe.terminal.term}`);
  if (recipe.terminal?.recorded === false) part('unrecorded');
  if (recipe.terminal?.schemaDigest !== undefined) part(`schema ${recipe.terminal.schemaDigest}`);
  for (const grant of recipe.terminal?.grants ?? []) part(`grant ${grant}`);
  return hash.digest('hex');
}

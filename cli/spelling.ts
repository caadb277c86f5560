/** How this program is called from where its user stands: a hint that cannot be typed is none. */
import { realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Standing {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The entry module that runs. */
  readonly program: string;
}

/** `custody` where the PATH leads to this very program, else Node with its path. */
export function spelling({ env, program }: Standing): string {
  const found = (env.PATH ?? '')
    .split(delimiter)
    .filter((directory) => directory !== '')
    .map((directory) => resolved(join(directory, 'custody')))
    .find((path) => path !== undefined);
  const own = resolved(program) ?? program;
  return found === own ? 'custody' : `node ${quoted(own)}`;
}

/** Next to this module in dist/ lies what an installation links to. */
export const ownProgram = (): string => fileURLToPath(new URL('./cli.cjs', import.meta.url));

function resolved(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

const quoted = (path: string): string => (/^[\w./@+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);

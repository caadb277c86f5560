/** Where the client is: at the same place in a checkout and in an installed package; this file may be in a bundle. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Path of the executable, or undefined when it was not built. */
export function noteClient(): string | undefined {
  for (let at = dirname(fileURLToPath(import.meta.url)); ; at = dirname(at)) {
    const candidate = join(at, 'pty', 'note', 'build', 'custody-note');
    if (existsSync(candidate)) return candidate;
    if (dirname(at) === at) return undefined;
  }
}

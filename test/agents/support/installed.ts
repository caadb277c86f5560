/** The agents that the tests run, installed in fixtures/ exactly as the lock file there says. */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const directory = fileURLToPath(new URL('../fixtures', import.meta.url));
const modules = join(directory, 'node_modules');
/** Written last: a copy of the lock file that an installation was finished with. */
const mark = join(modules, '.installed');
/** Nothing of them is built or downloaded on the way, and what they can do without is left out. */
const flags = ['--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund', '--no-progress', '--loglevel=error'];

/** Takes half a minute the first time and nothing afterwards. Rejects with npm's own words when the registry is out of reach. */
export async function installAgents(): Promise<void> {
  const lock = readFileSync(join(directory, 'package-lock.json'), 'utf8');
  if (installedWith() === lock) return;
  await promisify(execFile)('npm', ['ci', '--prefix', directory, ...flags], { cwd: directory });
  writeFileSync(mark, lock);
}

function installedWith(): string | undefined {
  try {
    return readFileSync(mark, 'utf8');
  } catch {
    return undefined;
  }
}

export const agentProgram = (name: string): string => join(modules, '.bin', name);

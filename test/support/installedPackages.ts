/** Packages that only tests need, installed beside the test exactly as a lock file there says. */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Nothing of them is built or downloaded on the way, and what they can do without is left out. */
const flags = ['--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund', '--no-progress', '--loglevel=error'];

/**
 * Takes up to half a minute the first time and nothing afterwards; returns where they are. `directory` holds package.json
 * and its lock file. Rejects with npm's own words when the registry is out of reach.
 */
export async function installPackages(directory: string): Promise<string> {
  const modules = join(directory, 'node_modules');
  // Written last: a copy of the lock file that an installation was finished with.
  const mark = join(modules, '.installed');
  const lock = readFileSync(join(directory, 'package-lock.json'), 'utf8');
  if (installedWith(mark) === lock) return modules;
  await promisify(execFile)('npm', ['ci', '--prefix', directory, ...flags], { cwd: directory });
  writeFileSync(mark, lock);
  return modules;
}

function installedWith(mark: string): string | undefined {
  try {
    return readFileSync(mark, 'utf8');
  } catch {
    return undefined;
  }
}

/** Which program this is: one digest over everything of it that is executed, so that what was tried can be told from what was not. */
import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Lowercase hex SHA-256 over names and contents of the bundles in `directory`; maps and types are not executed. */
export function programDigest(directory: string): string {
  const names = readdirSync(directory).filter((name) => /\.c?js$/.test(name));
  const lines = names.sort().map((name) => `${name}\0${hash('sha256', readFileSync(join(directory, name)), 'hex')}\n`);
  return hash('sha256', lines.join(''), 'hex');
}

/** Which program it is that was tried: SHA-256 over the bundles that it is made of, by name and content. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** `directory` is the one in which the bundles lie; their maps and types are no part of what runs. */
export function programDigest(directory: string): string {
  const bundles = readdirSync(directory).filter((name) => /\.(c?js)$/.test(name));
  const digest = createHash('sha256');
  for (const name of bundles.sort()) {
    const content = createHash('sha256')
      .update(readFileSync(join(directory, name)))
      .digest('hex');
    digest.update(`${content}  ${name}\n`);
  }
  return digest.digest('hex');
}

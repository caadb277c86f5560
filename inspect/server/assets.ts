/** The files of the page, read once: what is not in this list when the server starts is not served, whatever a path says. */
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';

export interface Asset {
  readonly type: string;
  readonly bytes: Buffer<ArrayBuffer>;
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.map': 'application/json',
  '.webmanifest': 'application/manifest+json',
};

/** Path → file, flat: `/` is index.html. Empty where there is no such directory. */
export function readAssets(directory: string): ReadonlyMap<string, Asset> {
  const assets = new Map<string, Asset>();
  for (const entry of entriesOf(directory)) {
    const type = types[extname(entry.name)];
    if (!entry.isFile() || type === undefined) continue;
    const asset = { type, bytes: Buffer.from(readFileSync(join(directory, entry.name))) };
    assets.set(`/${entry.name}`, asset);
    if (entry.name === 'index.html') assets.set('/', asset);
  }
  return assets;
}

function entriesOf(directory: string) {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A program of test/daemon/fixtures in one file, as build.mjs does it for the daemon that ships. */
export function bundleFixture(name: string, outfile: string): void {
  buildSync({
    entryPoints: [join(root, 'test', 'daemon', 'fixtures', `${name}.ts`)],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    mainFields: ['module', 'main'],
    external: ['better-sqlite3'],
    logLevel: 'error',
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
  });
}

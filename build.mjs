// Bundles the two entry modules into dist/. Only the native module stays outside: one file that is read once starts
// faster than forty that are resolved, and the command line is started for every question that somebody has.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('.', import.meta.url));

// An installed package carries dist/ already and has no esbuild; only a checkout builds.
if (existsSync(join(root, 'cli'))) {
  const { build } = await import('esbuild');
  const outdir = join(root, 'dist');
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: { cli: 'cli/main.ts', daemon: 'cli/daemon.ts' },
    outdir,
    bundle: true,
    splitting: true,
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    // The UMD form of a package cannot be followed by a bundler.
    mainFields: ['module', 'main'],
    sourcemap: 'linked',
    logLevel: 'warning',
    metafile: true,
    external: ['better-sqlite3'],
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
  });
  // Pieces of earlier builds go last, so that a program that starts meanwhile finds everything that it names.
  const current = new Set(Object.keys(metafile.outputs).map((path) => basename(path)));
  for (const name of readdirSync(outdir)) if (!current.has(name)) rmSync(join(outdir, name), { recursive: true });
}

// Bundles the two entry modules into dist/. Everything stays an external package except what the short-lived
// command line needs at every start: one file that is read once starts faster than forty that are resolved.
import { existsSync } from 'node:fs';

// An installed package carries dist/ already and has no esbuild; only a checkout builds.
if (existsSync(new URL('./cli', import.meta.url))) {
  const { build } = await import('esbuild');
  const shared = {
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    outdir: 'dist',
    splitting: true,
    sourcemap: 'linked',
    logLevel: 'warning',
    external: ['better-sqlite3'],
    banner: { js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);" },
  };
  await build({ ...shared, entryPoints: { cli: 'cli/main.ts', daemon: 'cli/daemon.ts' } });
}

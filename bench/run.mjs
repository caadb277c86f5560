// Runs one benchmark by name: `npm run bench -- exec`. TypeScript ones are bundled first, so that what is measured is what
// is shipped.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const [name, ...args] = process.argv.slice(2);
const names = readdirSync(join(root, 'bench'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
const directory = names.find((entry) => entry.name === name);
if (!directory) {
  console.error(`usage: npm run bench -- NAME, where NAME is one of: ${names.map((entry) => entry.name).join(', ')}`);
  process.exit(2);
}

const folder = join(root, 'bench', directory.name);
const script = ['run.mjs', 'status.mjs'].map((file) => join(folder, file)).find(existsSync);
if (script) process.exit(spawnSync(process.execPath, [script, ...args], { stdio: 'inherit' }).status ?? 1);

// Below node_modules, because native modules are resolved from where the bundle lies, and nobody looks for sources there.
const cache = join(root, 'node_modules', '.cache');
mkdirSync(cache, { recursive: true });
const outdir = mkdtempSync(join(cache, 'bench-'));
try {
  const outfile = join(outdir, 'run.mjs');
  await build({
    entryPoints: [join(folder, 'run.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    mainFields: ['module', 'main'],
    packages: 'external',
    define: { 'import.meta.dirname': JSON.stringify(folder) },
  });
  process.exitCode = spawnSync(process.execPath, ['--expose-gc', outfile, ...args], { stdio: 'inherit' }).status ?? 1;
} finally {
  rmSync(outdir, { recursive: true, force: true });
}

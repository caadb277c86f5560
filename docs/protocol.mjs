// Writes docs/protocol/ out of the machines, or says with --check what of it is stale: `npm run docs`, `npm run docs:check`.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'docs', 'protocol');

/** The source as it is now, whether or not it was built. */
async function source() {
  const place = mkdtempSync(join(root, 'node_modules', '.protocol-'));
  try {
    const outfile = join(place, 'pages.mjs');
    const entryPoints = [join(root, 'inspect', 'diagrams', 'pages.ts')];
    await build({ entryPoints, outfile, bundle: true, platform: 'node', format: 'esm', packages: 'external' });
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(place, { recursive: true });
  }
}

const { protocolPages, stalenessOf } = await source();
const pages = await protocolPages();
mkdirSync(folder, { recursive: true });
const present = new Map(readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), 'utf8')]));
const differing = stalenessOf(pages, present);
if (process.argv.includes('--check')) {
  for (const { file, how } of differing) console.error(`docs/protocol/${file}: ${how}`);
  if (differing.length > 0) console.error('write them with: npm run docs');
  else console.log(`docs/protocol: ${pages.size} files are those of the machines`);
  process.exitCode = differing.length > 0 ? 1 : 0;
} else {
  for (const { file, how } of differing) {
    if (how === 'superfluous') rmSync(join(folder, file));
    else writeFileSync(join(folder, file), pages.get(file));
  }
  console.log(`docs/protocol: ${differing.length} of ${pages.size} files were written anew`);
}

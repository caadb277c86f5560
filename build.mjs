// Bundles the entry modules into dist/. Only the native module stays outside: one file that is read once starts faster
// than forty that are resolved, and the command line is started for every question that somebody has.
import { copyFileSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('.', import.meta.url));

/** The command tree and observing stay modules of their own, loaded only by what needs them. */
const fullCommandLine = {
  name: 'full-command-line',
  setup({ onResolve }) {
    for (const name of ['full', 'observe'])
      onResolve({ filter: new RegExp(`^\\.\\.?/${name}\\.ts$`) }, () => ({ path: `./${name}.js`, external: true }));
  },
};

/** A library that could start programs finds nothing to start them with. */
const withoutPrograms = {
  name: 'without-programs',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(node:)?child_process$/ }, ({ path }) => ({ path, namespace: 'nothing' }));
    onLoad({ filter: /.*/, namespace: 'nothing' }, () => ({ contents: 'module.exports = {};' }));
  },
};

function removeOthers(directory, kept) {
  for (const name of readdirSync(directory)) if (!kept.has(name)) rmSync(join(directory, name), { recursive: true });
}

// An installed package carries dist/ already and has no esbuild; only a checkout builds.
if (existsSync(join(root, 'cli'))) {
  const { build } = await import('esbuild');
  const outdir = join(root, 'dist');
  const shared = {
    absWorkingDir: root,
    outdir,
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    sourcemap: 'linked',
    logLevel: 'warning',
    metafile: true,
    external: ['better-sqlite3', 'node-pty'],
    // The UMD form of a package cannot be followed by a bundler.
    mainFields: ['module', 'main'],
  };
  const banner = {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  };
  const program = await build({
    ...shared,
    entryPoints: {
      full: 'cli/full.ts',
      daemon: 'cli/daemon.ts',
      ptyHost: 'cli/ptyHost.ts',
      worker: 'cli/worker.ts',
      screenWorker: 'pty/screen/worker.ts',
      schemaWorker: 'actors/daemon/schema/worker.ts',
      inspectThread: 'inspect/server/thread/entry.ts',
      verifyWorker: 'inspect/verify/worker.ts',
    },
    splitting: true,
    format: 'esm',
    banner,
    plugins: [fullCommandLine],
  });
  // By itself and in one piece, so that what it holds can be told (INT-03).
  const observe = await build({
    ...shared,
    entryPoints: { observe: 'cli/observe.ts' },
    format: 'esm',
    banner,
    plugins: [withoutPrograms],
  });
  // CommonJS, because Node starts it faster than a module; it answers the quickest question by itself.
  const entry = await build({
    ...shared,
    entryPoints: { cli: 'cli/main.ts' },
    format: 'cjs',
    outExtension: { '.js': '.cjs' },
    plugins: [fullCommandLine],
  });
  // Each in one file of its own: what an executor can do is what is in it.
  const executors = await build({
    ...shared,
    entryPoints: { 'custody-archive': 'cli/archive.ts', 'custody-remove': 'cli/remove.ts' },
    format: 'cjs',
    outExtension: { '.js': '.cjs' },
  });
  // What launchers import: it takes nothing of the rest along.
  const notes = await build({ ...shared, entryPoints: { note: 'pty/note/adapter.ts' }, format: 'esm' });
  copyFileSync(join(root, 'pty', 'note', 'note.d.ts'), join(outdir, 'note.d.ts'));
  // What a browser gets: files of its own, because nothing in the page itself may run or be styled.
  const page = await build({
    ...shared,
    outdir: join(outdir, 'inspect'),
    entryPoints: { page: 'inspect/web/main.tsx', style: 'inspect/web/styles/page.css' },
    entryNames: '[name]',
    platform: 'browser',
    target: 'es2023',
    format: 'esm',
    splitting: true,
    minify: true,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    external: [],
    sourcemap: false,
  });
  const pageFiles = ['index.html', 'icon.svg'];
  for (const name of pageFiles) copyFileSync(join(root, 'inspect', 'web', name), join(outdir, 'inspect', name));
  const pagePieces = new Set([...pageFiles, ...Object.keys(page.metafile.outputs).map((path) => basename(path))]);
  // Pieces of earlier builds go last, so that a program that starts meanwhile finds everything that it names.
  const outputs = [program, observe, entry, executors, notes].flatMap(({ metafile }) => Object.keys(metafile.outputs));
  const current = new Set(['note.d.ts', 'inspect', ...outputs.map((path) => basename(path))]);
  removeOthers(outdir, current);
  removeOthers(join(outdir, 'inspect'), pagePieces);
}

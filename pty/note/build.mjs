// Compiles the client `custody-note` the way the guardian is compiled, whose identity, text, clock and digest it shares:
// `node pty/note/build.mjs` alone, or with the guardian in `node pty/build.mjs`, the package's install script.
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildExecutable } from '../guardian/build.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const shared = ['guardian.h', 'kernel.h', 'text.h', 'text.c', 'identity.c', 'clock.c', 'step.c', 'digest.c'];
const program = { name: 'custody-note', what: 'the client custody-note', directory: here, shared };

/** Builds unless the executable is made from the same sources and switches; returns its path. Throws GuardianBuildError. */
export function buildNote({ outDir = join(here, 'build'), defines = [], quick = false } = {}) {
  return buildExecutable({ program, outDir, defines, quick });
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) buildNote();

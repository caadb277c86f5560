import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { buildGuardian, ensureGuardian } from '../../../pty/guardian/build.mjs';

const fixtures = fileURLToPath(new URL('../fixtures', import.meta.url));
const built = fileURLToPath(new URL('../../../pty/guardian/build/test', import.meta.url));

/** The guardian that ships. */
export function guardian(): string {
  return ensureGuardian();
}

/**
 * What a guardian can be built without, to show that a test notices: each switch takes one guard away. `TEST_STEPS`
 * takes nothing away; it lets a test stop or kill the guardian at a named step.
 */
export type GuardianSwitch =
  | 'WITHOUT_WALL'
  | 'WITHOUT_SUBREAPER'
  | 'WITHOUT_GATE'
  | 'WITHOUT_SLOT_CHECK'
  | 'WITHOUT_CLOSE'
  | 'WITHOUT_SIGCHLD_DEFAULT'
  | 'WITHOUT_AGREEMENT'
  | 'WITHOUT_FREEZE'
  | 'WITHOUT_FREEZE_FIRST'
  | 'WITHOUT_REFREEZE'
  | 'WITHOUT_ASKING_AGAIN'
  | 'WITHOUT_FOREIGN_CHECK'
  | 'WITHOUT_SPARING'
  | 'WITHOUT_EXE_CHECK'
  | 'WITHOUT_IDENTITY_CHECK'
  | 'WITHOUT_CHILDREN_FILE'
  | 'WITHOUT_CTTY'
  | 'WITHOUT_NOTTY'
  | 'WITHOUT_HANDOVER'
  | 'WITHOUT_JOB_MODE'
  | 'WITHOUT_STOP_PROPAGATION'
  | 'WITHOUT_OWN_STREAMS'
  | 'WITHOUT_HOLD'
  | 'WITHOUT_FLOW_START'
  | 'WITHOUT_WHOLE_MARKER'
  | 'WITHOUT_WITNESS'
  | 'TEST_STEPS';

export function guardianBuiltWith(...options: readonly GuardianSwitch[]): string {
  const defines = options.map((option) => `CUSTODY_${option}`);
  return buildGuardian({ outDir: join(built, options.join('+')), defines, quick: true });
}

function digestOfFixtures(): string {
  const hash = createHash('sha256');
  for (const name of readdirSync(fixtures).sort()) hash.update(readFileSync(join(fixtures, name)));
  return hash.digest('hex').slice(0, 16);
}

/** A name that only this content has, so that a stale file is never used and a second process finds the first one's. */
function once(name: string, make: (output: string) => void): string {
  const directory = join(built, digestOfFixtures());
  const target = join(directory, name);
  if (existsSync(target)) return target;
  mkdirSync(directory, { recursive: true });
  const fresh = join(directory, `${process.pid}-${name}`);
  make(fresh);
  renameSync(fresh, target);
  return target;
}

/** A small C program from `fixtures/`. */
export function program(name: 'tree' | 'swarm' | 'wrap' | 'byHand' | 'bystander'): string {
  return once(name, (output) => {
    const flags = ['-std=c11', '-D_GNU_SOURCE', '-O1', '-Wall', '-Wextra', '-pthread'];
    execFileSync(process.env.CC || 'cc', [...flags, '-o', output, join(fixtures, `${name}.c`)]);
  });
}

/** A launcher as a process of its own: it can be killed, run as another user, or run inside a scope or a terminal. */
export function launcherProgram(name: 'launcher' | 'terminalHost' = 'launcher'): string {
  return once(`${name}.mjs`, (outfile) => {
    const entryPoints = [join(fixtures, `${name}.ts`)];
    buildSync({ entryPoints, outfile, bundle: true, platform: 'node', format: 'esm', logLevel: 'error' });
  });
}

/** An executable that starts the guardian under the circumstances of `wrap.c`. `directory` belongs to the test. */
export function wrapped(directory: string, circumstance: readonly string[], inner = guardian()): string {
  const path = join(
    directory,
    `guardian-${circumstance
      .join('-')
      .replace(/[^a-z-]/g, '')
      .slice(0, 40)}`,
  );
  const words = [program('wrap'), ...circumstance, '--', inner].map((word) => `'${word}'`);
  writeFileSync(path, `#!/bin/sh\nexec ${words.join(' ')} "$@"\n`);
  chmodSync(path, 0o755);
  return path;
}

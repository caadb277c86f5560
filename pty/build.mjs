// What an installation compiles: the guardian, and the client for launchers. Plain Node without dependencies, because it
// runs before anything else is there. Exit: 0 built or up to date, 69 no compiler, 1 the compiler failed.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildGuardian, GuardianBuildError } from './guardian/build.mjs';
import { buildNote } from './note/build.mjs';

try {
  buildGuardian({ outDir: join(fileURLToPath(new URL('guardian', import.meta.url)), 'build') });
  buildNote();
} catch (error) {
  if (!(error instanceof GuardianBuildError)) throw error;
  console.error(error.message);
  process.exitCode = error.exitCode;
}

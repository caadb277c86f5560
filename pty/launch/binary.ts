import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { GuardianLaunchError } from './errors.ts';

/** The build script lies at the same place in a checkout and in an installed package; this file may be in a bundle. */
function buildScript(): string {
  for (let at = dirname(fileURLToPath(import.meta.url)); ; at = dirname(at)) {
    const candidate = join(at, 'pty', 'guardian', 'build.mjs');
    if (existsSync(candidate)) return candidate;
    if (dirname(at) === at) throw new GuardianLaunchError({ code: 'guardian_missing', phase: 'spawn' });
  }
}

/**
 * The path of the guardian executable, built now if the install did not. Throws `guardian_missing` with the builder's
 * own explanation as cause: no compiler, or its complaint.
 */
export async function guardianBinary(): Promise<string> {
  const script = buildScript();
  const builder: { ensureGuardian(): string } = await import(/* @vite-ignore */ pathToFileURL(script).href);
  try {
    return builder.ensureGuardian();
  } catch (error) {
    throw new GuardianLaunchError({ code: 'guardian_missing', phase: 'spawn', cause: error });
  }
}

/** SHA-256 of an executable in hex: the digest under which a containment contract or an enrolment knows it. */
export function guardianDigest(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

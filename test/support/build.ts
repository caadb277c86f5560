import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Tests that drive the shipped command line must see today's sources, so every run bundles and compiles first. */
export default function buildOnce(): void {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  for (const script of ['pty/build.mjs', 'build.mjs']) {
    execFileSync(process.execPath, [script], { cwd: root, stdio: 'inherit' });
  }
}

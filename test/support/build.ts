import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';

/** Tests that drive the shipped command line must see today's sources, so every run bundles and compiles first. */
export default async function buildOnce(project: TestProject): Promise<void> {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  for (const script of ['pty/build.mjs', 'build.mjs']) {
    execFileSync(process.execPath, [script], { cwd: root, stdio: 'inherit' });
  }
  const { hostContract } = await import('./hostContract.ts');
  project.provide('hostContract', await hostContract());
}

/**
 * Shows an address in the browser of whoever sits here. It holds a secret, and what a program is started with is for every
 * user to read: so the browser is handed a private file that leads on to it.
 */
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Places } from '../actors/runtime/places.ts';

/** A screen that a browser could show something on. */
export const hasScreen = (env: NodeJS.ProcessEnv): boolean =>
  (env.DISPLAY ?? '') !== '' || (env.WAYLAND_DISPLAY ?? '') !== '';

/** Written over each time: what stood there before counts no more. */
export function redirectFile({ runDir }: Pick<Places, 'runDir'>, url: string): string {
  mkdirSync(runDir, { recursive: true, mode: 0o700 });
  const path = join(runDir, 'inspect.html');
  writeFileSync(path, '', { mode: 0o600 });
  chmodSync(path, 0o600);
  const address = url.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  const head = `<meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>Custody</title>`;
  writeFileSync(path, `<!doctype html>${head}<meta http-equiv="refresh" content="0;url=${address}">\n`);
  return path;
}

/** False when there is nothing that opens it. The browser outlives whoever started it. */
export function openBrowser(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn('xdg-open', [path], { stdio: 'ignore', detached: true });
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}

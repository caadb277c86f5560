import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** Native and bundled helpers of one test file, in a directory that other users may read as well. */
export interface Workshop {
  readonly directory: string;
  readonly puppeteer: string;
  readonly driver: string;
  close(): void;
}

export function openWorkshop(): Workshop {
  const directory = mkdtempSync(join(tmpdir(), 'custody-observe-'));
  chmodSync(directory, 0o755);
  const puppeteer = join(directory, 'puppeteer');
  execFileSync('cc', ['-std=gnu11', '-Wall', '-Wextra', '-pthread', '-o', puppeteer, here('puppeteer.c')]);
  const driver = join(directory, 'driver.mjs');
  buildSync({ entryPoints: [here('driver.ts')], outfile: driver, bundle: true, platform: 'node', format: 'esm' });
  return { directory, puppeteer, driver, close: () => rmSync(directory, { recursive: true, force: true }) };
}

/** One Chromium for a test file, and pages that keep a record of what they should not do. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { patienceMs } from '../../../support/patience.ts';

const args = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
];

export interface Watched {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors and warnings of the console, and what was thrown. */
  readonly complaints: string[];
  /** Addresses that were asked for. */
  readonly requests: string[];
}

export interface SharedBrowser {
  /** Closed when the test is over. */
  open(options?: BrowserContextOptions): Promise<Watched>;
}

/** Has to be called while the file is collected. */
export function sharedBrowser(): SharedBrowser {
  let browser: Browser | undefined;
  let home: string | undefined;
  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'custody-chromium-'));
    // Everything that the browser keeps lies below, its crash reports and caches included.
    const env = { PATH: process.env.PATH ?? '', HOME: home, TMPDIR: home, XDG_CONFIG_HOME: home, XDG_CACHE_HOME: home };
    // As somebody has it who looks: a page that changes its address too often is not followed any more.
    const ignoreDefaultArgs = ['--disable-ipc-flooding-protection'];
    browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args, ignoreDefaultArgs, env });
  });
  afterAll(async () => {
    await browser?.close();
    if (home !== undefined) rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  });
  return {
    async open(options = {}) {
      const context = await browser!.newContext({ viewport: { width: 1280, height: 800 }, ...options });
      onTestFinished(() => context.close());
      context.setDefaultTimeout(patienceMs);
      const page = await context.newPage();
      return { page, context, ...watch(page) };
    },
  };
}

function watch(page: Page): Pick<Watched, 'complaints' | 'requests'> {
  const complaints: string[] = [];
  const requests: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => requests.push(request.url()));
  return { complaints, requests };
}

/** Nothing was complained of, and nothing was asked of anybody but the server that the page came from. */
export function expectQuiet({ complaints, requests }: Watched, url: string): void {
  const { origin } = new URL(url);
  expect(complaints).toEqual([]);
  expect(requests.length).toBeGreaterThan(0);
  expect(requests.filter((address) => !address.startsWith(`${origin}/`) && !address.startsWith('data:'))).toEqual([]);
}

/** Resolves when the page follows what is committed. */
export async function enter({ page }: Watched, url: string): Promise<void> {
  await page.goto(url);
  await page.locator('[data-connection=live]').waitFor();
}

/** Goes to a place without loading anything anew, as a link of the page does. */
export async function goTo(page: Page, hash: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
}

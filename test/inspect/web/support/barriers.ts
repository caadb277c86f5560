/** What axe finds on a page that keeps somebody out. */
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Colours, width and height in which every view is looked at. */
export const colourings = [
  ['light', 1280, 800],
  ['dark', 1280, 800],
  ['light', 390, 844],
] as const;

/** The page has to be opened with `bypassCSP`: its policy lets in no script but its own. */
export const withAxe = (page: Page): Promise<unknown> => page.addScriptTag({ path: axe });

/** Findings of axe that keep somebody out, each with the elements that it is about. */
export async function barriers(page: Page): Promise<readonly string[]> {
  const results = (await page.evaluate(() =>
    (globalThis as unknown as { axe: { run(): Promise<unknown> } }).axe.run(),
  )) as AxeResults;
  expect(results.passes.length).toBeGreaterThan(10);
  return results.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`);
}

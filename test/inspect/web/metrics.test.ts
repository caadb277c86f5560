/** What was measured, in pictures: every series of `custody metrics`, by keyboard, on a phone, and for who cannot see them. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { OperatingError } from '../../../actors/runtime/operatingError.ts';
import { seriesNames } from '../../metrics/support/everySeries.ts';
import { fill, measuring, pass } from '../server/support/measuring.ts';
import { barriers, colourings, withAxe } from './support/barriers.ts';
import { enter, expectQuiet, goTo, sharedBrowser } from './support/browser.ts';

const browser = sharedBrowser();
const assets = new URL('../../../dist/inspect/', import.meta.url);

const card = (page: Page, name: string) => page.locator(`[data-series="${name}"]`);

async function shown(options: Parameters<typeof browser.open>[0] = {}) {
  const measured = measuring();
  fill(measured.store, Date.now());
  const inspector = await measured.openWith(undefined, { assets });
  const watched = await browser.open(options);
  const url = inspector.offer();
  await enter(watched, url);
  return { ...measured, watched, url, page: watched.page };
}

it('has a card for each series, with its figures, a picture that says what it shows, and the table behind it', async () => {
  const { page, watched, url } = await shown();
  await page.keyboard.press('g');
  await page.keyboard.press('m');
  await card(page, 'pass_duration').waitFor();
  const names = await page.locator('[data-series]').evaluateAll((cards) => cards.map((one) => one.dataset.series));
  expect(names).toEqual(seriesNames);

  // `w` and the buttons choose the window, which stands in the address.
  for (const window of ['7d', '1h']) {
    await page.keyboard.press('w');
    await page.waitForURL((address) => address.hash === `#/metrics?window=${window}`);
  }
  await page.getByRole('button', { name: '1 hour', pressed: true }).waitFor();
  const passes = card(page, 'pass_duration');
  await passes.getByRole('img', { name: /steps of 1 minute\. Measured in 3 of 61 steps/ }).waitFor();
  expect(await passes.locator('.metric-sums div').allTextContents()).toEqual([
    ...['p503 ms', 'p955 ms', 'largest5 ms', 'values5'],
  ]);
  expect(await passes.locator('.band').count()).toBe(3);
  expect(await card(page, 'unknowns').locator('.metric-bar').count()).toBe(3);
  await card(page, 'unknowns').getByText('denied').waitFor();
  await card(page, 'coverage_gaps')
    .getByRole('img', { name: /closed: 0 to 1\..*open: 1 to 3\./ })
    .waitFor();
  await card(page, 'journal_rows').getByText('Only its present is kept.').waitFor();

  // The table, without a pointer.
  await passes.locator('summary').focus();
  await page.keyboard.press('Enter');
  const table = passes.getByRole('region', { name: 'Figures of Pass duration' });
  await table.getByRole('columnheader', { name: 'largest' }).waitFor();
  expect(await table.locator('tbody tr').count()).toBe(3);
  await page.keyboard.press('Tab');
  expect(await table.evaluate((element) => element === document.activeElement)).toBe(true);
  expectQuiet(watched, url);
});

it('says that nothing was measured, and draws nothing and no 0 then', async () => {
  const { openWith } = measuring();
  const watched = await browser.open();
  const { page } = watched;
  const url = (await openWith(undefined, { assets })).offer();
  await enter(watched, url);
  await goTo(page, '#/metrics?window=7d');
  for (const name of ['pass_duration', 'pass_reads', 'unknowns', 'predictions_would_be_unsafe', 'recovery_time']) {
    await card(page, name).getByText('Nothing measured in this window.').waitFor();
    expect([name, await card(page, name).locator('svg, dl').count()]).toEqual([name, 0]);
  }
  // That there is no gap was looked up.
  await card(page, 'coverage_gaps').locator('dd').getByText('0', { exact: true }).waitFor();
  expectQuiet(watched, url);
});

it('asks again every few seconds while somebody looks, and not while nobody does', async () => {
  const { page, store, watched, url } = await shown();
  await page.clock.install();
  await goTo(page, '#/metrics?window=1h');
  const count = card(page, 'pass_reads').locator('.metric-sums div').last();
  await count.getByText('5', { exact: true }).waitFor();
  const table = card(page, 'pass_reads').locator('details');
  await table.locator('summary').click();
  const measure = () => store.write(() => store.passes.add({ ...pass, wallMs: Date.now() }));
  measure();
  await page.clock.fastForward(10_000);
  await count.getByText('6', { exact: true }).waitFor();
  // What was open stays open.
  expect(await table.getAttribute('open')).not.toBeNull();

  const hide = (hidden: boolean) =>
    page.evaluate((value) => {
      Object.defineProperty(document, 'hidden', { value, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    }, hidden);
  /** How often it has asked up to now: requests are told of in their order, and this one is the last. */
  const asked = async () => {
    await page.evaluate(async () => void (await fetch('/icon.svg')));
    return watched.requests.filter((address) => address.includes('/api/metrics')).length;
  };
  await hide(true);
  const before = await asked();
  measure();
  await page.clock.fastForward(60_000);
  expect(await asked()).toBe(before);
  await hide(false);
  await count.getByText('7', { exact: true }).waitFor();
  expectQuiet(watched, url);
});

it('says what is wrong where it gets no answer, keeps what it has, and tries again', async () => {
  const { metrics, openWith } = measuring();
  let isBroken = true;
  const failure = () => new OperatingError({ code: 'store_io', message: 'the disk does not answer', exitCode: 11 });
  const history: typeof metrics.history = (request) =>
    isBroken ? Promise.reject(failure()) : metrics.history(request);
  const watched = await browser.open();
  const { page } = watched;
  await enter(watched, (await openWith({ history }, { assets })).offer());
  await goTo(page, '#/metrics?window=1h');
  const alert = page.getByRole('alert');
  await alert.getByText('the disk does not answer').waitFor();
  isBroken = false;
  await alert.getByRole('button', { name: 'Try again' }).click();
  await card(page, 'journal_rows').waitFor();
  await alert.waitFor({ state: 'detached' });

  isBroken = true;
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
  await alert.waitFor();
  expect(await page.locator('[data-series]').count()).toBe(seriesNames.length);
});

it('shuts nobody out with its tables open, light or dark, wide or on a phone', async () => {
  const { page } = await shown({ bypassCSP: true });
  await withAxe(page);
  const found: string[] = [];
  for (const [colorScheme, width, height] of colourings) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height });
    for (const window of ['1h', '24h', '7d']) {
      await goTo(page, `#/metrics?window=${window}`);
      const passes = card(page, 'pass_duration');
      await page.locator(`button[aria-pressed=true]:text("${Number.parseInt(window, 10)} ")`).waitFor();
      await passes.locator('svg').first().waitFor();
      if ((await passes.locator('table').count()) === 0) await passes.locator('summary').click();
      await passes.locator('table').waitFor();
      const about = `${window} ${colorScheme} ${width}`;
      if (window === '24h') found.push(...(await barriers(page)).map((barrier) => `${about}: ${barrier}`));
      found.push(...(await spilled(page)).map((text) => `${about} has no room for ${text}`));
    }
  }
  expect(found).toEqual([]);
});

/** Words and figures that are wider than where they stand, or lie on one another beside an axis. */
function spilled(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const words = [...document.querySelectorAll<HTMLElement>('.metric-sums dd, .picture-values span, .metric h2')];
    const wide = words.filter((one) => one.scrollWidth > one.clientWidth && one.clientWidth > 0);
    const page = document.documentElement.scrollWidth > innerWidth ? ['the page'] : [];
    const ticks = [...document.querySelectorAll('.picture-instants')].flatMap((axis) => {
      const boxes = [...axis.children].map((tick) => tick.getBoundingClientRect());
      const end = axis.getBoundingClientRect().right;
      return boxes.some((box, n) => box.right > (boxes[n + 1]?.left ?? end) + 0.5) ? [axis.textContent ?? ''] : [];
    });
    return [...wide.map((one) => one.textContent ?? ''), ...ticks, ...page];
  });
}

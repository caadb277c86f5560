/** Every view by the keyboard alone, on a phone, in both colours, and as somebody meets it who cannot see it. */
import { expect, it } from 'vitest';
import { type TestDaemon, testDaemon } from '../../support/daemon.ts';
import { barriers, colourings, withAxe } from './support/barriers.ts';
import { enter, expectQuiet, goTo, sharedBrowser } from './support/browser.ts';
import { openInspector } from './support/story.ts';

const browser = sharedBrowser();

interface Place {
  readonly hash: string;
  /** What is there once the view is. */
  readonly shows: string;
}

/** A Goal whose run in a terminal has ended, seen from everywhere. */
async function placesOf(daemon: TestDaemon): Promise<readonly Place[]> {
  const { goalId, generationId } = await daemon.goal();
  const { runId, sessionId, scopeId } = await daemon.exec(goalId, "printf 'words\\r\\n'", {
    terminal: { cols: 80, rows: 10 },
  });
  await daemon.proved(runId);
  return [
    { hash: '#/fleet', shows: `[data-actor="run/${runId}"]` },
    { hash: `#/actor/goal/${goalId}`, shows: '[data-state-id="goal.workflow.active.todo"][data-active=true]' },
    { hash: `#/actor/run/${runId}`, shows: '[data-state-id="run.lifecycle.ended"][data-active=true]' },
    { hash: `#/actor/worktreeGeneration/${generationId}?at=1`, shows: '[data-past-position]' },
    { hash: `#/sequence?goal=${goalId}`, shows: '[data-message]' },
    { hash: '#/processes?all=1', shows: `[data-scope="${scopeId}"]` },
    { hash: `#/terminal/${sessionId}?t=100000`, shows: '.xterm-rows :text("words")' },
    { hash: `#/timeline/${goalId}`, shows: '[data-bar]' },
    { hash: '#/metrics', shows: '[data-series=commit_latency] svg' },
  ];
}

it('shuts nobody out of any view, light or dark, wide or on a phone', async () => {
  const daemon = await testDaemon().start();
  const places = await placesOf(daemon);
  const url = await openInspector(daemon);
  const watched = await browser.open({ bypassCSP: true });
  const { page } = watched;
  await enter(watched, url);
  await withAxe(page);
  const found: string[] = [];
  for (const [colorScheme, width, height] of colourings) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height });
    for (const { hash, shows } of places) {
      await goTo(page, hash);
      await page.locator(shows).first().waitFor();
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (wide > 0) found.push(`${hash} is ${wide} px too wide at ${width}`);
      found.push(...(await barriers(page)).map((barrier) => `${hash} ${colorScheme} ${width}: ${barrier}`));
    }
  }
  expect(found).toEqual([]);
});

it('is used with the keyboard alone', async () => {
  const daemon = await testDaemon().start();
  const places = await placesOf(daemon);
  const url = await openInspector(daemon);
  const watched = await browser.open({ reducedMotion: 'reduce' });
  const { page } = watched;
  await enter(watched, url);
  const { keyboard } = page;
  await page.locator(places[0]!.shows).waitFor();

  await keyboard.press('/');
  await keyboard.type('todo');
  await page.locator('.fleet-row >> nth=1').waitFor({ state: 'detached' });
  await keyboard.press('Escape');
  await keyboard.press('j');
  await keyboard.press('Enter');
  await page.locator(places[1]!.shows).waitFor();

  // Back in time, forward again, and back to where one came from.
  await keyboard.press('ArrowLeft');
  await page.locator('[data-past-position]').waitFor();
  await keyboard.press('Escape');
  await page.locator('[data-past-position]').waitFor({ state: 'detached' });
  await keyboard.press('Escape');
  await page.locator('.fleet-row').first().waitFor();

  for (const [key, shows] of [
    ['s', '[data-message]'],
    ['p', '.processes'],
    ['t', '.xterm-rows'],
    ['l', '[data-bar]'],
    ['m', '[data-series=commit_latency] svg'],
    ['f', '.fleet-row'],
  ] as const) {
    await keyboard.press('g');
    await keyboard.press(key);
    await page.locator(shows).first().waitFor();
  }

  await keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard and signs' }).waitFor();
  await keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  const before = await page.locator('html').getAttribute('data-theme');
  await keyboard.press('d');
  await page.locator(`html:not([data-theme=${before}])`).waitFor();

  // What has the focus shows it, from the first stop on.
  await page.locator('body').press('Tab');
  const outlines = await page.evaluate(() => getComputedStyle(document.activeElement as Element).outlineStyle);
  expect(outlines).not.toBe('none');
  expectQuiet(watched, url);
});

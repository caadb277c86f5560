/** Ten thousand actors: what is in the document is what can be seen. */
import { expect, it } from 'vitest';
import { testDaemon } from '../../support/daemon.ts';
import { enter, expectQuiet, sharedBrowser } from './support/browser.ts';
import { openInspector, order, storyDaemonCommand } from './support/story.ts';

const browser = sharedBrowser();
const count = 10_000;
/** What a screen of 800 px holds, and as much again. */
const mostRows = 80;

it('shows, searches, walks and follows ten thousand actors', async () => {
  const daemon = await testDaemon().start(storyDaemonCommand());
  const url = await openInspector(daemon);
  await order(daemon, { add: count });
  const watched = await browser.open();
  const { page } = watched;
  await enter(watched, url);
  await page.locator('[data-count=goal]').getByText('10,000', { exact: true }).waitFor();
  const rows = page.locator('.fleet-row');
  await rows.first().waitFor();
  expect(await rows.count()).toBeLessThan(mostRows);

  // The last of them, and the way there, without a pointer.
  await page.keyboard.press('End');
  await page.locator('[data-actor="goal/Gmany009999"][aria-selected=true]').waitFor();
  expect(await rows.count()).toBeLessThan(mostRows);
  await page.keyboard.press('k');
  await page.locator('[data-actor="goal/Gmany009998"][aria-selected=true]').waitFor();

  // One of them by a part of its name.
  await page.keyboard.press('/');
  await page.keyboard.type('goal 4711');
  await page.locator('[data-actor="goal/Gmany004711"]').waitFor();
  await rows.nth(1).waitFor({ state: 'detached' });
  expect(await page.locator('.found').textContent()).toBe(`1 of ${count.toLocaleString('en')}`);

  // It moves while one looks.
  await order(daemon, { queue: 'Gmany004711' });
  await page.locator('[data-actor="goal/Gmany004711"][data-version="2"]').waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.locator('[data-state-id="goal.workflow.active.todo"][data-active=true]').waitFor();
  expectQuiet(watched, url);
});

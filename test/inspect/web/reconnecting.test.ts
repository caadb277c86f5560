/** What the page says while it hears nothing, and what it makes up for afterwards. */
import { expect, it } from 'vitest';
import { testDaemon } from '../../support/daemon.ts';
import { enter, sharedBrowser } from './support/browser.ts';
import { openInspector, order, storyDaemonCommand } from './support/story.ts';

const browser = sharedBrowser();

it('says that it is not connected, comes back by itself, and has missed nothing then', async () => {
  const daemon = await testDaemon().start(storyDaemonCommand());
  const { goalId } = await daemon.goal();
  const url = await openInspector(daemon);
  const watched = await browser.open();
  const { page } = watched;
  let broken = false;
  const resumed: string[] = [];
  // The stream is cut by the network between the two, and stays so until it is mended.
  await page.route('**/api/updates*', async (route) => {
    resumed.push(new URL(route.request().url()).searchParams.get('after') ?? '');
    if (broken) await route.abort('connectionfailed');
    else if (resumed.length > 1) await route.continue();
    else {
      const hello = { type: 'hello', position: Number(resumed[0]), control: false, heartbeatMs: 5_000 };
      broken = true;
      await route.fulfill({ contentType: 'text/event-stream', body: `data: ${JSON.stringify(hello)}\n\n` });
    }
  });
  await page.goto(url);
  await page.locator('[data-connection=reconnecting]').waitFor();
  // What is on the screen is of before, and is not shown as if it were of now.
  await page.getByRole('alert').getByText('The daemon does not answer.').waitFor();
  await page.locator('main.stale').waitFor();
  await page
    .locator('header')
    .getByText(/^▲as of \d\d:\d\d:\d\d$/)
    .waitFor();
  await page.getByText('Healthy').waitFor({ state: 'detached' });
  const row = page.locator(`[data-actor="goal/${goalId}"]`);
  await row.and(page.locator('[data-state~="workflow.active.todo"]')).waitFor();
  await order(daemon, { advance: goalId, until: 'implement' });
  broken = false;
  await page.locator('[data-connection=live]').waitFor();
  await page.locator('[data-lost]').waitFor({ state: 'detached' });
  await page.locator('main:not(.stale)').waitFor();
  await page.getByText('Healthy').waitFor();
  await row.and(page.locator('[data-state~="workflow.active.executing.implement"]')).waitFor();
  // It asked for what came after the last position that it had heard of, not for everything.
  expect(Number(resumed.at(-1))).toBeGreaterThan(0);
  expect(resumed.at(-1)).toBe(resumed[0]);
});

it('says that the daemon has left, and who may come back', async () => {
  const daemon = await testDaemon().start(storyDaemonCommand());
  const url = await openInspector(daemon);
  const watched = await browser.open();
  const { page } = watched;
  await enter(watched, url);
  await daemon.call('inspect.close', {});
  await page.locator('[data-connection=left]').waitFor();
  await page.getByRole('alert').getByText('The daemon has left.').waitFor();
  await watched.context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'Copy' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('custody inspect');
  // Another inspector at the same address knows nothing of this tab.
  await openInspector(daemon, { tcpPort: Number(new URL(url).port) });
  await page.locator('[data-notice=denied]').getByText('is there no more').waitFor();
});

it('says so when a link was used before', async () => {
  const daemon = await testDaemon().start();
  const url = await openInspector(daemon);
  await enter(await browser.open(), url);
  const { page } = await browser.open();
  await page.goto(url);
  await page.locator('[data-notice=denied]').getByText('this link was used before, or has expired').waitFor();
  await page.getByText('custody inspect', { exact: true }).waitFor();
});

it('says what it cannot show, and why', async () => {
  const daemon = await testDaemon().start();
  const url = await openInspector(daemon);
  const watched = await browser.open();
  const { page } = watched;
  await enter(watched, url);
  await page.locator('[data-notice=empty]').waitFor();
  const { origin } = new URL(url);
  await page.goto(`${origin}/#/actor/run/Rnobody`);
  await page.locator('[data-notice=failure]').waitFor();
  await page.goto(`${origin}/#/nowhere`);
  await page.getByRole('link', { name: 'Back to the fleet' }).click();
  await page.locator('.fleet').waitFor();
  await page.goBack();
  await page.getByText('There is no such view.').waitFor();
});

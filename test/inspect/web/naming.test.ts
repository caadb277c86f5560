/** What the page calls things by: a question names what it is about, and what is well is no alarm. */
import { expect, it } from 'vitest';
import { testDaemon } from '../../support/daemon.ts';
import { enter, expectQuiet, goTo, sharedBrowser } from './support/browser.ts';
import { openInspector } from './support/story.ts';

const browser = sharedBrowser();

it('names what a question is about and what ends with it, and tells who left the tree of a scope that is well', async () => {
  const daemon = await testDaemon().start();
  const { goalId } = await daemon.goal();
  const { runId, scopeId } = await daemon.exec(goalId, '(setsid sleep 600 &); exec sleep 600', { label: 'long work' });
  const url = await openInspector(daemon, { control: true });
  const watched = await browser.open();
  const { page } = watched;
  await enter(watched, url);

  // Custody's own git is counted, and shown to who asks for it.
  const own = page.getByLabel(/^[1-9]\d* own operations$/);
  await own.waitFor();
  await page.getByText('git worktree').waitFor({ state: 'detached' });
  await own.check();
  await page.getByText('git worktree').first().waitFor();

  await goTo(page, `#/actor/goal/${goalId}`);
  await page.getByRole('button', { name: 'Cancel Goal …' }).click();
  const dialog = page.getByRole('dialog', { name: 'Cancel Goal' });
  await dialog.getByText('a goal').waitFor();
  await dialog.getByText(goalId, { exact: true }).waitFor();
  await dialog
    .getByRole('listitem')
    .filter({ hasText: `Run long work ${runId}` })
    .waitFor();
  await page.keyboard.press('Escape');

  await goTo(page, '#/processes');
  const scope = page.locator(`[data-scope="${scopeId}"]`);
  await scope.getByText('adopted by the guardian: its parent has ended').waitFor();
  await scope.getByText('sleeping').first().waitFor();
  await scope.getByText('What will prove its end').waitFor();
  expect(await scope.getByText('▲').count()).toBe(0);
  expect(await scope.locator('header').getByText('running').count()).toBe(1);

  await goTo(page, `#/sequence?goal=${goalId}&lanes=kinds&type=run.reserved`);
  await page.locator('[data-message]').first().waitFor();
  expect(await page.locator('.lane-head').allTextContents()).toEqual(['operator', 'Runs']);
  expectQuiet(watched, url);
});

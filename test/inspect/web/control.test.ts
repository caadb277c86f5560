/** What the page may change: with `--control` alone, after a second question, and once, whatever becomes of the answer. */
import type { Page, Route } from 'playwright-core';
import { expect, it } from 'vitest';
import { testDaemon } from '../../support/daemon.ts';
import { enter, expectQuiet, goTo, sharedBrowser, type Watched } from './support/browser.ts';
import { openInspector } from './support/story.ts';

const browser = sharedBrowser();

/** Request ids of what the page has asked for, in order. */
function asked({ page }: Watched): string[] {
  const ids: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/api/control')) ids.push(request.postDataJSON().requestId);
  });
  return ids;
}

async function confirm(page: Page, does: string): Promise<void> {
  await page.getByRole('button', { name: `${does} …` }).click();
  await page.getByRole('dialog', { name: does }).getByRole('button', { name: does, exact: true }).click();
}

it('offers nothing to a page that was opened to look', async () => {
  const daemon = await testDaemon().start();
  const { goalId } = await daemon.goal();
  const watched = await browser.open();
  const { page } = watched;
  await enter(watched, await openInspector(daemon));
  await goTo(page, `#/actor/goal/${goalId}`);
  await page.locator('[data-explanation]').waitFor();
  expect(await page.getByRole('button', { name: 'Cancel Goal' }).count()).toBe(0);
  expect(await page.locator('.control-sign').count()).toBe(0);
});

it('stops a run, closes a worktree and cancels a Goal, by the keyboard as well, and leaves what is not confirmed', async () => {
  const daemon = await testDaemon().start();
  const { goalId, generationId } = await daemon.goal();
  const { runId } = await daemon.exec(goalId, 'sleep 600');
  const url = await openInspector(daemon, { control: true });
  const watched = await browser.open();
  const { page } = watched;
  await enter(watched, url);
  await page.locator('.control-sign').waitFor();
  const ids = asked(watched);

  await goTo(page, `#/actor/run/${runId}`);
  await page.getByRole('button', { name: 'Stop run …' }).click();
  await page.getByRole('button', { name: 'Leave it' }).click();
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  expect(ids).toEqual([]);

  await page.getByRole('button', { name: 'Stop run …' }).press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Stop run' });
  await dialog.waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await daemon.proved(runId);
  await page.locator('[data-state-id="run.lifecycle.ended"][data-active=true]').waitFor();

  await goTo(page, `#/actor/worktreeGeneration/${generationId}`);
  await confirm(page, 'Close worktree');
  await page.locator('[data-state-id="worktreeGeneration.lifecycle.open"][data-active=false]').waitFor();
  expect((await daemon.call('worktrees.show', { id: generationId })).lifecycle).not.toBe('open');

  await goTo(page, `#/actor/goal/${goalId}`);
  await confirm(page, 'Cancel Goal');
  await page.locator('[data-state-id="goal.workflow.cancelled"][data-active=true]').waitFor();
  expect((await daemon.call('goals.show', { id: goalId })).status).toBe('cancelled');
  expect(new Set(ids).size).toBe(3);
  expectQuiet(watched, url);
});

it('asks again under the same request id where the answer was lost, so that it is done once', async () => {
  const daemon = await testDaemon().start();
  const { generationId } = await daemon.goal();
  const watched = await browser.open();
  const { page } = watched;
  await enter(watched, await openInspector(daemon, { control: true }));
  await goTo(page, `#/actor/worktreeGeneration/${generationId}`);
  const ids = asked(watched);
  // The daemon gets the order, and the page no answer.
  const loseAnswer = async (route: Route) => {
    await route.fetch();
    await route.abort('connectionreset');
  };
  await page.route('**/api/control', loseAnswer, { times: 1 });
  await confirm(page, 'Close worktree');
  const dialog = page.getByRole('dialog', { name: 'Close worktree' });
  await dialog.getByText('The daemon does not answer.').waitFor();
  await dialog.getByRole('button', { name: 'Close worktree', exact: true }).click();
  await dialog.waitFor({ state: 'hidden' });
  expect(ids).toHaveLength(2);
  expect(ids[1]).toBe(ids[0]);
  const orders = await daemon.events({ actor: generationId });
  expect(orders.filter(({ eventId }) => eventId.includes(ids[0]!))).toHaveLength(1);
});

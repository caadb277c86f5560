/** A Goal from its beginning to its end, watched while it moves, and looked at again afterwards. */
import { expect, it } from 'vitest';
import { expectQuiet, goTo, sharedBrowser } from './support/browser.ts';
import { order } from './support/story.ts';
import { watchedStory } from './support/watchedStory.ts';

const browser = sharedBrowser();

const lit = (state: string) => `[data-state-id="goal.${state}"][data-active=true]`;

it('follows a running Goal to done, and travels back through its life', async () => {
  const { daemon, goalId, url, watched, page } = await watchedStory(browser);

  // In the fleet: the row changes by itself.
  const row = page.locator(`[data-actor="goal/${goalId}"]`);
  await row.and(page.locator('[data-state~="workflow.active.todo"]')).waitFor();
  await order(daemon, { advance: goalId, until: 'plan' });
  await row.and(page.locator('[data-state~="workflow.active.executing.plan"]')).waitFor();

  // In its chart: what is lit moves, and the transition that was taken is shown.
  await row.locator('a').click();
  await page.locator(lit('workflow.active.executing.plan')).waitFor();
  await order(daemon, { advance: goalId, until: 'implement' });
  await page.locator(lit('workflow.active.executing.implement')).waitFor();
  await page
    .locator('[data-transition-id^="goal.workflow.active.executing.plan#step.advanced#"][data-taken=true]')
    .waitFor();
  expect(await page.locator(lit('workflow.active.executing.plan')).count()).toBe(0);

  await order(daemon, { advance: goalId, until: 'done' });
  await page.locator(lit('workflow.done')).waitFor();
  await page.locator('[data-explanation]').waitFor();

  // The past: said clearly, with the chart and the context of then.
  await page.keyboard.press('Home');
  await page.locator('[data-past-position]').waitFor();
  expect(await page.locator('[data-past-position]').textContent()).toContain('You look at the past');
  await page.locator(lit('workflow.active.backlog')).waitFor();
  expect(await page.locator(lit('workflow.done')).count()).toBe(0);
  const addressed = page.url();
  await page.keyboard.press('ArrowRight');
  await page.locator(lit('workflow.active.todo')).waitFor();
  await page.getByRole('tab', { name: 'Change' }).click();
  await page.locator('[data-path="status"]').waitFor();
  expect(await page.locator('[data-path="status"] .was').textContent()).toContain('backlog');
  expect(await page.locator('[data-path="status"] .is').textContent()).toContain('todo');

  // A place of the past can be handed on, and is the same for who opens it.
  await page.goto(addressed);
  await page.reload();
  await page.locator(lit('workflow.active.backlog')).waitFor();
  await page.keyboard.press('Escape');
  await page.locator(lit('workflow.done')).waitFor();
  expect(await page.locator('[data-past-position]').count()).toBe(0);

  expectQuiet(watched, url);
});

it('is dragged through the past as fast as somebody likes, and comes back to where it was left', async () => {
  const { daemon, goalId, url, watched, page } = await watchedStory(browser);
  await order(daemon, { advance: goalId, until: 'done' });
  await goTo(page, `#/actor/goal/${goalId}`);
  await page.locator(lit('workflow.done')).waitFor();
  await page.getByLabel('Position in the journal').evaluate((slider: HTMLInputElement) => {
    for (let step = 600; step >= 0; step -= 1) {
      slider.value = String(step % Number(slider.max));
      slider.dispatchEvent(new Event('input', { bubbles: true }));
    }
  });
  await page.locator(lit('workflow.active.backlog')).waitFor();
  await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Fleet' }).click();
  await page.locator('.fleet').waitFor();
  await page.goBack();
  await page.locator(lit('workflow.active.backlog')).waitFor();
  expectQuiet(watched, url);
});

it('shows the messages of a Goal as they happen, and its life as bars', async () => {
  const { daemon, goalId, generationId, url, watched, page } = await watchedStory(browser);
  await goTo(page, `#/actor/goal/${goalId}`);
  await page.getByRole('link', { name: 'messages', exact: true }).click();
  await page.locator('[data-type="goal.created"]').waitFor();
  // What it brought about is among them, also where others heard it.
  await page.locator('[data-type="generation.registered"]').waitFor();
  await order(daemon, { advance: goalId, until: 'quality' });
  // The newest stays in sight.
  // To plan, to implement, to quality.
  await page.locator('[data-type="step.advanced"]').nth(2).click();
  await page.getByRole('region', { name: 'The selected message' }).getByRole('link').last().click();
  await page.locator(lit('workflow.active.executing.quality')).waitFor();

  await goTo(page, `#/timeline/${goalId}`);
  await page.locator('.lane-step [data-bar]').first().waitFor();
  const steps = page.locator('.lane-step [data-bar]');
  const last = steps.last();
  expect(await last.textContent()).toContain('quality');
  expect(await last.getAttribute('data-lasting')).toBe('true');
  await page
    .locator('.lane-worktree')
    .getByText(generationId)
    .or(page.locator('.lane-worktree [data-bar]'))
    .first()
    .waitFor();
  await order(daemon, { advance: goalId, until: 'governance' });
  await steps.getByRole('link', { name: 'governance' }).waitFor();
  expectQuiet(watched, url);
});

it('shows a message that was committed while the page was being told of the one before', async () => {
  const { daemon, goalId, url, watched, page } = await watchedStory(browser);
  let isHeld = false;
  await page.route('**/api/sequence*after=*', async (route) => {
    if (isHeld) return route.continue();
    isHeld = true;
    const response = await route.fetch();
    // The answer is on its way, and the page hears of another commit before it has come.
    const before = await page.locator('.position').textContent();
    await order(daemon, { advance: goalId, until: 'implement' });
    await page.locator('.position').filter({ hasNotText: before! }).waitFor();
    return route.fulfill({ response });
  });
  await goTo(page, `#/sequence?goal=${goalId}`);
  await page.locator('[data-type="goal.created"]').waitFor();
  await order(daemon, { advance: goalId, until: 'plan' });
  await page.locator('[data-type="step.advanced"]').nth(1).waitFor();
  expectQuiet(watched, url);
});

/** Real processes and terminals, as the page shows them. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { testDaemon } from '../../support/daemon.ts';
import { enter, expectQuiet, goTo, sharedBrowser } from './support/browser.ts';
import { openInspector } from './support/story.ts';

const browser = sharedBrowser();

/** Goes on when the file is there. */
const waitFor = (path: string) => `until [ -e '${path}' ]; do sleep 0.05; done`;

it('shows the tree of a scope, what is proved and what is missing, until everything is', async () => {
  const daemon = await testDaemon().start();
  const { goalId } = await daemon.goal();
  const end = join(daemon.home.dir, 'end');
  const { runId, scopeId } = await daemon.exec(goalId, `sh -c "${waitFor(end)}" & wait`);
  const url = await openInspector(daemon);
  const watched = await browser.open();
  const { page } = watched;
  await enter(watched, url);
  await goTo(page, '#/processes');
  const scope = page.locator(`[data-scope="${scopeId}"]`);
  await scope.locator('[data-pid] >> nth=1').waitFor();
  await scope.getByRole('list', { name: 'Proved' }).getByText('has written that it started').waitFor();

  // What a place is for: one scope, its run, and the way back.
  await scope.getByRole('link', { name: 'run', exact: true }).click();
  await page.locator('[data-state-id="run.lifecycle.bound"][data-active=true]').waitFor();
  writeFileSync(end, '');
  await daemon.proved(runId);
  await page.locator('[data-state-id="run.lifecycle.ended"][data-active=true]').waitFor();
  await goTo(page, `#/processes/${scopeId}`);
  await scope.locator('[data-receipt=exit]').getByText('authentic').waitFor();
  await scope.getByText('No process of it is left.').waitFor();
  expectQuiet(watched, url);
});

it('shows a terminal as it is, and plays what was recorded', async () => {
  const daemon = await testDaemon().start();
  const { goalId } = await daemon.goal();
  const [second, end] = [join(daemon.home.dir, 'second'), join(daemon.home.dir, 'end')];
  const script = [
    String.raw`printf 'first \033[38;2;255;120;10mcoloured\033[0m words\r\n'`,
    waitFor(second),
    `printf 'second words\\r\\n'`,
    waitFor(end),
  ].join('\n');
  const { runId, sessionId } = await daemon.exec(goalId, script, { terminal: { cols: 72, rows: 12 }, label: 'agent' });
  const url = await openInspector(daemon);
  const watched = await browser.open();
  const { page } = watched;
  await enter(watched, url);
  await goTo(page, `#/terminal/${sessionId}`);
  const screen = page.locator('.xterm-rows');
  await screen.getByText('first').waitFor();
  writeFileSync(second, '');
  await screen.getByText('second words').waitFor();
  writeFileSync(end, '');
  await daemon.proved(runId);

  // Over: the recording is what there is, from its beginning.
  await page.locator('[data-terminal=recorded]').waitFor();
  const player = page.locator('.player');
  await player.waitFor();
  await page.keyboard.press('Home');
  await page.keyboard.press('End');
  await screen.getByText('second words').waitFor();
  await player.getByLabel('Instant of the recording').fill('0');
  await screen.getByText('second words').waitFor({ state: 'detached' });
  // Dragged to the end and back before the terminal has taken any of it: what is shown is where one stands.
  await player.getByLabel('Instant of the recording').evaluate((slider: HTMLInputElement) => {
    for (const value of [slider.max, '0', slider.max, '0', slider.max]) {
      slider.value = value;
      slider.dispatchEvent(new Event('input', { bubbles: true }));
    }
    slider.value = '0';
    slider.dispatchEvent(new Event('input', { bubbles: true }));
  });
  await screen.getByText('second words').waitFor({ state: 'detached' });
  expect(await screen.textContent()).not.toContain('second words');
  await player.getByLabel('Speed').selectOption('16');
  await page.getByRole('button', { name: 'Play' }).click();
  await screen.getByText('second words').waitFor();
  await page.locator('.player[data-playing=false]').waitFor();

  // What an agent would have been given to read at that instant.
  await page.getByText('What the agent saw').click();
  await page.locator('.seen pre').getByText('second words').waitFor();
  expectQuiet(watched, url);
});

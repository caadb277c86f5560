/** What a page was too slow for: it is said, and nothing is shown as if it had been seen. */
import { expect, it } from 'vitest';
import { testDaemon } from '../../support/daemon.ts';
import { enter, goTo, sharedBrowser } from './support/browser.ts';
import { openInspector, order, storyDaemonCommand } from './support/story.ts';

const browser = sharedBrowser();

const sse = (...messages: readonly object[]): string =>
  messages.map((message) => `data: ${JSON.stringify(message)}\n\n`).join('');

it('reads everything anew where it is told that it has missed something', async () => {
  const daemon = await testDaemon().start(storyDaemonCommand());
  const { goalId } = await daemon.goal();
  const url = await openInspector(daemon);
  const { page } = await browser.open();
  const resumed: number[] = [];
  await page.route('**/api/updates*', async (route) => {
    resumed.push(Number(new URL(route.request().url()).searchParams.get('after')));
    if (resumed.length > 1) return route.continue();
    // What was committed meanwhile is told to nobody: the page knows of the gap alone.
    await order(daemon, { advance: goalId, until: 'implement' });
    const hello = { type: 'hello', position: 0, control: false, heartbeatMs: 5_000 };
    const gap = { type: 'gap', from: 1, position: 1_000_000, reason: 'slow' };
    return route.fulfill({ contentType: 'text/event-stream', body: sse(hello, gap) });
  });
  await page.goto(url);
  await page.locator(`[data-actor="goal/${goalId}"][data-state~="workflow.active.executing.implement"]`).waitFor();
  await page.locator('[data-connection=live]').waitFor();
  // It goes on behind what it has read, which is more than before, and not where the gap has said.
  const [first, second] = resumed as [number, number];
  expect(second).toBeGreaterThan(first);
  expect(second).toBeLessThan(1_000_000);
});

it('says how much of a living terminal it was not shown, also when it has caught up', async () => {
  const daemon = await testDaemon().start();
  const { goalId } = await daemon.goal();
  const { sessionId } = await daemon.exec(goalId, 'sleep 600', { terminal: { cols: 40, rows: 5 } });
  const watched = await browser.open();
  const { page } = watched;
  await enter(watched, await openInspector(daemon));
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const screen = (text: string) => ({ type: 'screen', offset: 0, cols: 40, rows: 5, base64: base64(text) });
  await page.route('**/live', (route) =>
    route.fulfill({
      contentType: 'text/event-stream',
      body: sse(
        screen('first'),
        // Left in another screen and in the middle of a sequence: nothing of it reaches what is painted anew.
        { type: 'output', offset: 5, base64: base64('\x1b[?1049h\x1b[41mstale words\x1b[3') },
        { type: 'gap', from: 10, to: 12_355, reason: 'this viewer was too slow' },
        screen('fresh words'),
        { type: 'ended', offset: 20, complete: true, reason: null },
      ),
    }),
  );
  const said: (string | null)[] = [];
  await page.exposeFunction('heard', (text: string) => void said.push(text));
  await page.evaluate(() => {
    new MutationObserver(() => {
      const line = document.querySelector('[data-terminal=live]');
      if (line !== null) (globalThis as never as { heard(text: string): void }).heard(line.textContent ?? '');
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  await goTo(page, `#/terminal/${sessionId}`);
  await page.locator('[data-terminal=live]').getByText('Ended').waitFor();
  await page.locator('.xterm-rows').getByText('fresh words').waitFor();
  expect(await page.locator('.xterm-rows').textContent()).not.toContain('stale');
  expect(said.join('\n')).toMatch(/12.345 bytes were not shown: this viewer was too slow/);
});

it('says where in a recording output is missing, from there on', async () => {
  const daemon = await testDaemon().start();
  const { goalId } = await daemon.goal();
  const { sessionId, runId } = await daemon.exec(goalId, 'echo words', { terminal: { cols: 40, rows: 5 } });
  await daemon.proved(runId);
  const watched = await browser.open();
  const { page } = watched;
  await enter(watched, await openInspector(daemon));
  const lines = [
    { version: 2, width: 40, height: 5 },
    [0, 'o', 'a'],
    [1, 'm', '5 bytes missing: dropped'],
    [2, 'o', 'b'],
  ];
  await page.route('**/recording', (route) =>
    route.fulfill({ body: lines.map((line) => `${JSON.stringify(line)}\n`).join('') }),
  );
  await goTo(page, `#/terminal/${sessionId}`);
  const missing = page.locator('.player .terminal-missing');
  await missing.getByText('5 bytes missing: dropped').waitFor();
  await page.keyboard.press('Home');
  await missing.waitFor({ state: 'detached' });
  await page.keyboard.press('End');
  await missing.waitFor();
});

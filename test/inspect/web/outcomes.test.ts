/** How runs, sessions and steps have ended, wherever the page shows them: failure is never taken for success. */
import { expect, it } from 'vitest';
import { type TestDaemon, testDaemon } from '../../support/daemon.ts';
import { killGuardian } from '../../support/guardianPair.ts';
import { enter, expectQuiet, goTo, sharedBrowser } from './support/browser.ts';
import { openInspector, order, storyDaemonCommand } from './support/story.ts';

const browser = sharedBrowser();

/** A run that ended while nobody was there to prove that nothing of it remains. */
async function unprovedRun(daemon: TestDaemon, goalId: string): Promise<string> {
  const { runId, guardianPid, workloadPid } = await daemon.exec(goalId, 'exec sleep 600', { label: 'unproved' });
  killGuardian(guardianPid!);
  process.kill(workloadPid!, 'SIGKILL');
  await daemon.ended(runId);
  return runId;
}

it('says of each run how it ended, in the fleet, at its head and in the life of its Goal', async () => {
  const daemon = await testDaemon().start(storyDaemonCommand());
  const { goalId } = await daemon.goal();
  const ended = async (script: string, label: string, of = goalId) => {
    const { runId } = await daemon.exec(of, script, { label });
    await daemon.proved(runId);
    return runId;
  };
  const runs = [
    [await ended('exit 0', 'well'), '✓', 'exit 0'],
    [await ended('exit 3', 'badly'), '✕', 'exit 3'],
    [await ended('kill -9 $$', 'killed'), '✕', 'killed by SIGKILL'],
    [await unprovedRun(daemon, goalId), '▲', 'not proved'],
  ] as const;
  const url = await openInspector(daemon);
  const watched = await browser.open();
  const { page } = watched;
  await enter(watched, url);
  for (const [runId, sign, words] of runs) {
    const row = page.locator(`[data-actor="run/${runId}"]`);
    await row.getByText(words).waitFor();
    expect(await row.locator('.sign').textContent()).toBe(sign);
  }
  // A run whose end is told while somebody looks.
  const { goalId: other } = await daemon.goal();
  const late = await ended('exit 4', 'late', other);
  await page.locator(`[data-actor="run/${late}"]`).getByText('exit 4').waitFor();

  for (const [runId, sign, words] of runs) {
    await goTo(page, `#/actor/run/${runId}`);
    const end = page.locator('[data-end]').filter({ hasText: words });
    await end.waitFor();
    expect(await end.textContent()).toBe(`${sign}${words}`);
  }
  await goTo(page, `#/timeline/${goalId}`);
  for (const [runId, sign, words] of runs) {
    const bar = page.locator(`.bar-row[data-bar*="${runId}"]`);
    await bar.getByText(words).waitFor();
    expect(await bar.locator('.sign').textContent()).toBe(sign);
  }
  expectQuiet(watched, url);
});

it('calls the step of a failed check failed', async () => {
  const daemon = await testDaemon().start(storyDaemonCommand());
  const { goalId } = await daemon.goal();
  const url = await openInspector(daemon);
  await order(daemon, { advance: goalId, until: 'implement' });
  await order(daemon, { fail: goalId });
  const watched = await browser.open();
  const { page } = watched;
  await enter(watched, url);
  await goTo(page, `#/timeline/${goalId}`);
  const step = page.locator('.lane-step .bar-row').filter({ hasText: /^✕\s*implement/ });
  await step.getByText('failed: verdict').waitFor();
  await page
    .locator('.lane-step .bar-row')
    .filter({ hasText: /^✓\s*plan/ })
    .waitFor();
});

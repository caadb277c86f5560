/** Who is let in, and who is not. */
import { request } from 'node:http';
import { expect, it } from 'vitest';
import { testDaemon } from '../../support/daemon.ts';
import { enter, expectQuiet, sharedBrowser } from './support/browser.ts';
import { openInspector } from './support/story.ts';

const browser = sharedBrowser();

it('opens with a code that counts once, and keeps the secret out of the address', async () => {
  const daemon = await testDaemon().start();
  const { goalId } = await daemon.goal();
  const url = await openInspector(daemon);
  const first = await browser.open();
  await enter(first, url);
  const { page } = first;
  await page.locator(`[data-actor="goal/${goalId}"]`).waitFor();
  expect(page.url()).toBe(`${new URL(url).origin}/#/fleet`);
  // The tab stays in when it is loaded anew.
  await page.reload();
  await page.locator('[data-connection=live]').waitFor();
  expectQuiet(first, url);

  const second = await browser.open();
  await second.page.goto(url);
  await second.page.locator('[data-notice=denied]').waitFor();
  expect(await second.page.locator('[data-notice=denied]').textContent()).toContain('custody inspect');
  expect(await second.page.locator('[data-actor]').count()).toBe(0);
});

it('shows nothing to who comes without a code', async () => {
  const daemon = await testDaemon().start();
  const watched = await browser.open();
  await watched.page.goto(new URL(await openInspector(daemon)).origin);
  await watched.page.locator('[data-notice=denied]').waitFor();
  expectQuiet(watched, watched.page.url());
});

/** The answer to a request whose headers no browser would let a page send. */
function statusOf(url: string, headers: Readonly<Record<string, string>>, path = '/'): Promise<number> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    request({ hostname, port, path, headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    })
      .on('error', reject)
      .end();
  });
}

it('refuses a foreign Host and a foreign Origin, the page included', async () => {
  const daemon = await testDaemon().start();
  const url = await openInspector(daemon);
  const { host, port } = new URL(url);
  expect(await statusOf(url, { host })).toBe(200);
  expect(await statusOf(url, { host: `rebound.example:${port}` })).toBe(403);
  expect(await statusOf(url, { host: `localhost:${port}` })).toBe(403);
  expect(await statusOf(url, { host, origin: 'http://elsewhere.example' }, '/api/fleet')).toBe(403);

  // A browser that was made to believe that another name is this machine.
  const rebound = await browser.open();
  const address = `http://localhost:${port}/`;
  const answer = await rebound.page.goto(address);
  expect(answer?.status()).toBe(403);
  // A page of another origin that knows the address.
  const foreign = await rebound.page.evaluate(async (target) => {
    try {
      return (await fetch(target)).status;
    } catch {
      return 'blocked';
    }
  }, `http://${host}/api/fleet`);
  expect(foreign).toBe('blocked');
});

it('does not let the page be framed, and lets nothing run that is not its own', async () => {
  const daemon = await testDaemon().start();
  const url = await openInspector(daemon);
  const watched = await browser.open();
  await enter(watched, url);
  const ran = await watched.page.evaluate(() => {
    const script = document.createElement('script');
    script.textContent = 'window.injected = true';
    document.head.append(script);
    return 'injected' in window;
  });
  expect(ran).toBe(false);
  expect(watched.complaints.join()).toContain('Content Security Policy');
});

/**
 * The inspector's page in Chromium over a real daemon with ten thousand actors: from the arrival of the fleet to its first
 * picture, and from a commit to the picture that shows it. `npm run bench -- inspectPage [ACTORS] [CHANGES]`. All clocks are
 * the one of this machine.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { quantile } from '../timing.ts';
import { type StoryDaemon, startStoryDaemon } from './storyDaemon.ts';

const actors = Number(process.argv[2] ?? 10_000);
const changes = Number(process.argv[3] ?? 200);
const loads = 5;
/** Goals that are in sight from the start, so that each change of theirs has to be drawn. */
const inSight = 12;
const root = resolve(import.meta.dirname, '..', '..');
const args = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
];

const goalId = (index: number): string => `Gmany${String(index).padStart(6, '0')}`;
const said = (values: readonly number[]): string =>
  `p50 ${quantile(values, 0.5).toFixed(0)} ms, p95 ${quantile(values, 0.95).toFixed(0)} ms, worst ${Math.max(...values).toFixed(0)} ms`;

/** Milliseconds from the arrival of the fleet until it has been drawn. */
async function firstPicture(page: Page): Promise<number> {
  await page.reload();
  await page.locator('.fleet-row').first().waitFor();
  return page.evaluate(async () => {
    const at = (name: string) => performance.getEntriesByName(name)[0]?.startTime;
    while (at('custody:fleet-drawn') === undefined) await new Promise(requestAnimationFrame);
    return at('custody:fleet-drawn')! - at('custody:fleet-arrived')!;
  });
}

/** Wall time at which the first picture with what `selector` means has been drawn. */
function drawn(page: Page, selector: string): Promise<number> {
  return page.evaluate(
    (wanted) =>
      new Promise<number>((resolve) => {
        const look = () => {
          if (document.querySelector(wanted) === null) return;
          observer.disconnect();
          // The next frame draws it, and what comes after that frame is after it.
          requestAnimationFrame(() => setTimeout(() => resolve(performance.timeOrigin + performance.now())));
        };
        const observer = new MutationObserver(look);
        observer.observe(document.documentElement, { subtree: true, childList: true, attributes: true });
        look();
      }),
    selector,
  );
}

async function changesIn(page: Page, daemon: StoryDaemon, selectorOf: (id: string, version: number) => string) {
  const latencies: number[] = [];
  for (let change = 0; change < changes; change += 1) {
    const id = goalId(change % inSight);
    const version = (daemon.versions.get(id) ?? 1) + 1;
    const seen = drawn(page, selectorOf(id, version));
    const committedAt = await daemon.order({ step: id });
    daemon.versions.set(id, version);
    latencies.push(Math.max(0, (await seen) - committedAt));
  }
  return latencies;
}

async function measure(page: Page, daemon: StoryDaemon): Promise<void> {
  await page.goto(await daemon.open());
  await page.locator('[data-connection=live]').waitFor();
  await daemon.order({ add: actors });
  const pictures: number[] = [];
  for (let load = 0; load < loads; load += 1) pictures.push(await firstPicture(page));
  console.log(`first picture of ${actors} actors after their arrival: ${said(pictures)} (wanted: 1000)`);
  await page.locator('[data-connection=live]').waitFor();
  const latencies = await changesIn(
    page,
    daemon,
    (id, version) => `[data-actor="goal/${id}"][data-version="${version}"]`,
  );
  console.log(`from the commit of ${changes} changes to their picture: ${said(latencies)} (wanted: p95 100)`);
}

const scratch = mkdtempSync(join(tmpdir(), 'custody-bench-'));
mkdirSync(join(scratch, 'home'));
const environment = {
  PATH: process.env.PATH ?? '',
  HOME: join(scratch, 'home'),
  TMPDIR: scratch,
  CUSTODY_HOME: join(scratch, 'state'),
};
execFileSync(process.execPath, [join(root, 'dist', 'cli.cjs'), 'init'], { env: environment, stdio: 'ignore' });
const daemon = await startStoryDaemon({ root, stateDir: environment.CUSTODY_HOME, env: environment });
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args, env: environment });
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  page.setDefaultTimeout(120_000);
  await measure(page, daemon);
  console.log(`load of the machine: ${loadavg()[0]?.toFixed(1)}`);
} finally {
  await browser.close();
  await daemon.end();
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
}

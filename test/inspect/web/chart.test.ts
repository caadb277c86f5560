/** The chart of every kind of actor, as a browser draws it: what is written stays in its box and off everything else. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { actorKinds } from '../../../machines/ids.ts';
import { tickingWorker, workingDaemon } from '../../daemon/support/workers.ts';
import { enter, expectQuiet, goTo, sharedBrowser } from './support/browser.ts';
import { openInspector } from './support/story.ts';

const browser = sharedBrowser();

/** px by which letters may stand out of the box that was measured for them: half of the width of a line. */
const tolerance = 1;

interface Box {
  readonly text: string;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

interface Drawn {
  readonly labels: readonly (Box & { readonly within: Box })[];
  /** Size of the smallest letters on the screen, px. */
  readonly smallest: number;
}

/** In the coordinates of the drawing, so that the zoom does not count. */
const drawn = (page: Page): Promise<Drawn> =>
  page.evaluate(() => {
    const boxOf = (element: SVGGraphicsElement) => {
      const { x, y, width, height } = element.getBBox();
      return { text: element.textContent ?? '', left: x, right: x + width, top: y, bottom: y + height };
    };
    const texts = [...document.querySelectorAll<SVGTextElement>('.chart-frame text')];
    const drawing = document.querySelector<SVGGElement>('.chart-frame > g')!;
    const scale = drawing.getCTM()!.a;
    return {
      labels: texts.map((text) => {
        const within = text.parentElement!.querySelector<SVGGraphicsElement>(':scope > rect.ground, :scope > rect')!;
        return { ...boxOf(text), within: boxOf(within) };
      }),
      smallest: Math.min(...texts.map((text) => Number.parseFloat(getComputedStyle(text).fontSize))) * scale,
    };
  });

function troublesOf(kind: string, { labels }: Drawn): readonly string[] {
  const overlap = (a: Box, b: Box) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > tolerance &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2 * tolerance;
  const outside = labels
    .filter(({ within, ...box }) => {
      const isIn = box.left >= within.left - tolerance && box.right <= within.right + tolerance;
      return !isIn || box.top < within.top - tolerance || box.bottom > within.bottom + tolerance;
    })
    .map(({ text }) => `${kind}: "${text}" stands out of its box`);
  const crossed = labels.flatMap((one, index) =>
    labels
      .slice(index + 1)
      .filter((other) => overlap(one, other))
      .map(({ text }) => `${kind}: "${one.text}" lies over "${text}"`),
  );
  return [...outside, ...crossed];
}

it('writes everything in its box and nothing over anything else, large enough to be read', async () => {
  const daemon = await workingDaemon().start();
  await tickingWorker(daemon);
  const { goalId } = await daemon.goal();
  const { runId } = await daemon.exec(goalId, 'exit 0', { terminal: { cols: 80, rows: 10 } });
  await daemon.proved(runId);
  const url = await openInspector(daemon);
  const watched = await browser.open();
  const { page } = watched;
  await enter(watched, url);
  const troubles: string[] = [];
  for (const kind of actorKinds) {
    const row = page.locator(`[data-actor^="${kind}/"]`).first();
    await goTo(page, `#/fleet?kind=${kind}`);
    await goTo(page, `#/actor/${await row.getAttribute('data-actor')}`);
    await page.locator(`.chart-frame [data-state-id="${kind}"] >> nth=0`).waitFor();
    const found = await drawn(page);
    expect(found.labels.length, kind).toBeGreaterThan(4);
    expect(found.smallest, kind).toBeGreaterThanOrEqual(8.99);
    troubles.push(...troublesOf(kind, found));
  }
  expect(troubles).toEqual([]);
  expectQuiet(watched, url);
});

import { once } from 'node:events';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { readRange } from '../../pty/transcript/rawReader.ts';
import { bundled, node } from '../persistence/support/children.ts';
import { collected, privateDirectory, summaryOf } from './support/transcripts.ts';

let script = '';
beforeAll(() => {
  script = bundled('test/transcript/fixtures/endlessWriter.ts', 'endlessWriter');
});

/** Kills a writer after so many acknowledgements; says what it had acknowledged last, as far as we heard. */
async function killedAfter(acknowledgements: number, dir: string): Promise<number> {
  const writer = node(script, dir);
  let acknowledged = 0;
  for (let heard = 0; heard < acknowledgements; heard += 1) acknowledged = Number(await writer.nextLine());
  writer.process.kill('SIGKILL');
  await once(writer.process, 'close');
  return acknowledged;
}

it.each([1, 2, 3, 5, 8, 13, 40, 90, 200, 555])(
  'keeps every byte that a writer had taken before it was killed, after %i acknowledgements',
  async (acknowledgements) => {
    const dir = join(privateDirectory(), 'Skilled');
    const acknowledged = await killedAfter(acknowledgements, dir);
    const summary = await summaryOf(dir);
    expect(summary.to).toBeGreaterThanOrEqual(acknowledged);
    expect(summary).toMatchObject({ complete: false, lostBytes: 0 });
    expect(summary.reasons).toContain('interrupted');
    expect(summary.findings.filter(({ code }) => code !== 'index.tornLine')).toEqual([]);
    const text = (await collected(readRange(summary, summary.from, summary.to))).toString();
    const first = summary.from / 16;
    const numbers = Array.from({ length: Math.ceil(text.length / 16) }, (_, at) =>
      String(first + at).padStart(15, '0'),
    );
    expect(`${numbers.join('\n')}\n`.startsWith(text)).toBe(true);
  },
);

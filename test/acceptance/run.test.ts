/** custody acceptance: the whole matrix by the shipped program, and nothing of it left behind. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AcceptanceRow } from '../../actors/promotion/acceptanceReport.ts';
import { finished, json } from '../cli/support/program.ts';
import { nobodyLeft, type Stage, said, stage, start } from '../demo/support/stage.ts';

let at: Stage;
beforeEach(() => {
  at = stage();
});
afterEach(() => at.remove());

const kills = process.env.CUSTODY_SOAK === '1' ? 1_000 : 2;
/** The other tests want both processors as well. */
const patienceMs = 1_200_000;

describe('FAULT-01…12, PROMO-08: custody acceptance', () => {
  it(
    'tries every row, says what was seen, and leaves nothing',
    async ({ annotate }) => {
      const before = at.untouched();
      const ended = await finished(start(at, ['--json', '--kills', String(kills)], { command: 'acceptance' }));
      const { data } = json(ended);
      const rows: AcceptanceRow[] = [...data.faults, ...data.verifications];
      expect(rows.filter(({ verdict }) => verdict !== 'passed')).toEqual([]);
      for (const { observed } of rows) expect(observed.length).toBeGreaterThan(0);
      expect(data).toMatchObject({ format: 'custody-acceptance/1', safety: 'passed', progress: 'passed' });
      expect(data).toMatchObject({ verdict: 'ready', program: { digest: expect.stringMatching(/^[0-9a-f]{64}$/) } });
      expect(ended).toMatchObject({ code: 0, stderr: '' });
      await nobodyLeft(at);
      expect(at.leftFiles()).toEqual([]);
      expect(at.untouched()).toEqual(before);
      await annotate(`${kills} kills in each row that kills`);
    },
    patienceMs * (kills > 2 ? 20 : 1),
  );

  it('tries one row by its name, and is not ready by that; knows no others', async () => {
    const one = await finished(start(at, ['fault-10', '--record'], { command: 'acceptance' }));
    expect(one.code).toBe(0);
    expect(one.stdout).toMatch(/pass\s+FAULT-10/);
    expect(one.stdout).toContain('not ready: 15 of 16 rows have not passed');
    expect(one.stderr).toContain('not recorded: there is no installation');
    const none = json(await finished(start(at, ['nothing-like-this', '--json'], { command: 'acceptance' })));
    expect(none).toMatchObject({ ok: false, error: { code: 'usage', message: expect.stringContaining('FAULT-01') } });
  });

  it('is ended by SIGINT, and cleans up before it leaves', async () => {
    const child = start(at, ['FAULT-03'], { command: 'acceptance' });
    const over = finished(child);
    await said(child, /Acceptance in/);
    child.kill('SIGINT');
    expect((await over).code).toBe(130);
    await nobodyLeft(at);
    expect(at.leftFiles()).toEqual([]);
  });
});

/** Nobody may call it ready while anything lacks verification, and a report speaks of what it has tried (PROMO-08). */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { acceptanceOf, readinessOf } from '../../actors/promotion/acceptance.ts';
import { verifications } from '../../actors/promotion/acceptanceReport.ts';
import { acceptanceReportSchema, faultIds, lackingOf } from '../../actors/promotion/acceptanceSchema.ts';
import { programDigest } from '../../actors/promotion/programDigest.ts';
import { acceptanceFixture, usable, withRow } from './support/evidence.ts';

const readiness = (report = acceptanceFixture()) => readinessOf(usable(report), 'full');

describe('ready', () => {
  it('is said when everything has passed', () => {
    expect(readiness()).toEqual({ state: 'ready', lacks: [] });
  });

  it.each([...verifications, ...faultIds])('is not said while %s is missing, not tried or failed', (id) => {
    for (const verdict of [undefined, 'not_run', 'failed'] as const)
      expect(readiness(withRow(id, verdict))).toMatchObject({ state: 'not_ready', lacks: [{ code: id }] });
  });

  it('is not said without safety, progress or the contract of this host, whatever the report says of itself', () => {
    const lacks = (of: ReturnType<typeof readiness>) => of.lacks.map(({ code }) => code);
    expect(lacks(readiness({ ...acceptanceFixture(), safety: 'not_run' }))).toEqual(['safety']);
    expect(lacks(readiness({ ...acceptanceFixture(), progress: 'failed' }))).toEqual(['progress']);
    for (const contract of ['none', 'short'] as const)
      expect(lacks(readinessOf(usable(acceptanceFixture()), contract))).toEqual(['containment_contract']);
    expect(lacks(readinessOf({ state: 'none' }, 'full'))).toEqual(['acceptance']);
  });

  it('is not made of one passed row where another one of the same id has failed, nor of rows that nobody knows', () => {
    const report = acceptanceFixture();
    const twice = { ...report, faults: [...report.faults, { ...report.faults[0]!, verdict: 'failed' as const }] };
    expect(lackingOf(twice)).toEqual([{ id: 'FAULT-01', verdict: 'failed' }]);
    const extra = {
      ...report,
      faults: [...report.faults, { ...report.faults[0]!, id: 'X', verdict: 'failed' as const }],
    };
    expect(lackingOf(extra)).toEqual([{ id: 'X', verdict: 'failed' }]);
  });
});

describe('a report', () => {
  const { program, host } = acceptanceFixture();
  const tried = { programDigest: program.digest, kernel: host.kernel, guardianDigest: host.guardianDigest };
  const stored = { wallMs: 1, report: acceptanceFixture() as unknown, digest: 'd' };

  it.each([
    ['program', { ...tried, programDigest: 'f'.repeat(64) }],
    ['kernel', { ...tried, kernel: '6.2.0 other' }],
    ['guardian', { ...tried, guardianDigest: 'f'.repeat(64) }],
  ])('that tried another %s says nothing of this one', (what, here) => {
    expect(acceptanceOf(stored, here)).toMatchObject({ state: 'other', what });
    expect(readinessOf(acceptanceOf(stored, here), 'full')).toMatchObject({ state: 'not_ready' });
  });

  it('is believed as it was written, and in its own shape', () => {
    expect(acceptanceOf(stored, tried)).toMatchObject({ state: 'usable' });
    expect(acceptanceOf({ ...stored, report: null }, tried)).toEqual({ state: 'damaged', digest: 'd' });
    expect(acceptanceOf(undefined, tried)).toEqual({ state: 'none' });
    const { safety: _, ...without } = acceptanceFixture();
    for (const shape of [without, { ...acceptanceFixture(), more: 1 }, { ...acceptanceFixture(), safety: 'yes' }])
      expect(acceptanceReportSchema.safeParse(shape).success).toBe(false);
  });

  it('names the program by what is executed of it', () => {
    const directory = mkdtempSync(join(tmpdir(), 'custody-program-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const write = (name: string, text: string) => writeFileSync(join(directory, name), text);
    write('a.js', '1');
    write('a.js.map', 'x');
    const first = programDigest(directory);
    write('a.js.map', 'y');
    expect(programDigest(directory)).toBe(first);
    write('b.cjs', '2');
    const second = programDigest(directory);
    write('a.js', '2');
    expect(new Set([first, second, programDigest(directory)]).size).toBe(3);
  });
});

/** The shape of an acceptance report as it comes in, and whether its verdict follows from its rows (PROMO-08). */
import { z } from 'zod';
import { type AcceptanceReport, type AcceptanceRow, verifications } from './acceptanceReport.ts';

const verdict = z.enum(['passed', 'failed', 'not_run']);
const digest = z.string().regex(/^[0-9a-f]{64}$/);
const row = z.strictObject({
  id: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
  fault: z.string().max(500),
  required: z.string().max(500),
  observed: z.array(z.string().max(1_000)).max(100).readonly(),
  verdict,
});

export const acceptanceReportSchema = z.strictObject({
  format: z.literal('custody-acceptance/1'),
  program: z.strictObject({ version: z.string().max(64), digest }),
  host: z.strictObject({ kernel: z.string().max(256), guardianDigest: digest }),
  endedWallMs: z.int().min(0),
  faults: z.array(row).max(100).readonly(),
  verifications: z.array(row).max(20).readonly(),
  safety: verdict,
  progress: verdict,
  verdict: z.enum(['ready', 'not_ready']),
}) satisfies z.ZodType<AcceptanceReport>;

/** The rows of the fault matrix (FAULT-01 to FAULT-12). */
export const faultIds: readonly string[] = Array.from(
  { length: 12 },
  (_, index) => `FAULT-${String(index + 1).padStart(2, '0')}`,
);

export interface Lacking {
  readonly id: string;
  readonly verdict: AcceptanceRow['verdict'];
}

/** What has not passed; a row that is not there was not run. Of two with one id both have to. */
export function lackingOf(
  report: Pick<AcceptanceReport, 'faults' | 'verifications' | 'safety' | 'progress'>,
): Lacking[] {
  const rows = (ids: readonly string[], found: readonly AcceptanceRow[]) =>
    ids.flatMap((id): Lacking[] => {
      const own = found.filter((one) => one.id === id);
      if (own.length === 0) return [{ id, verdict: 'not_run' }];
      return own.flatMap(({ verdict: said }) => (said === 'passed' ? [] : [{ id, verdict: said }]));
    });
  const extra = report.faults.filter(({ id, verdict: said }) => !faultIds.includes(id) && said !== 'passed');
  return [
    ...rows(verifications, report.verifications),
    ...(['safety', 'progress'] as const).flatMap((id): Lacking[] =>
      report[id] === 'passed' ? [] : [{ id, verdict: report[id] }],
    ),
    ...rows(faultIds, report.faults),
    ...extra.map(({ id, verdict: said }) => ({ id, verdict: said })),
  ];
}

/** What the drills have shown, as one JSON object and as lines. */
import { line } from '../print/escape.ts';
import type { Style } from '../print/style.ts';

export interface DrillResult {
  readonly name: string;
  readonly title: string;
  readonly ok: boolean;
  /** What was seen; of a drill that failed, what was expected instead. */
  readonly observed: readonly string[];
  readonly ms: number;
}

export interface DrillReport {
  readonly passed: boolean;
  readonly drills: readonly DrillResult[];
  readonly directory: string;
  readonly removed: boolean;
}

export function drillLines({ passed, drills }: DrillReport, style: Style): string[] {
  const width = Math.max(...drills.map(({ name }) => name.length));
  const failed = drills.filter(({ ok }) => !ok).length;
  return [
    '',
    ...drills.flatMap(({ name, title, ok, observed }) => [
      `${ok ? style.green('pass') : style.red('FAIL')}  ${line`${name.padEnd(width)}  ${title}`}`,
      ...observed.map((text) => style.dim(line`      ${text}`)),
    ]),
    passed
      ? style.green(`all ${drills.length} drills passed`)
      : style.red(`${failed} of ${drills.length} drills failed`),
  ];
}

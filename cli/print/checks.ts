/** Checks of doctor, init and the containment self-check. */
import type { CallResults } from '../../actors/daemon/api/results.ts';
import type { CheckView, ContainmentCheckView } from '../../actors/daemon/api/views.ts';
import { line } from './escape.ts';
import type { Style } from './style.ts';
import { wrapped } from './wrap.ts';

export function checkLines(checks: readonly CheckView[], style: Style): string[] {
  const width = Math.max(0, ...checks.map(({ id }) => id.length));
  return checks.flatMap(({ id, ok, severity, detail, fix }) => {
    const mark = ok ? style.green('ok  ') : severity === 'error' ? style.red('FAIL') : style.yellow('warn');
    const [first = '', ...more] = wrapped(line`${detail}`, { from: width + 8 });
    return [
      `${mark}  ${line`${id.padEnd(width)}`}  ${first}`,
      ...more,
      ...(ok || fix === null ? [] : wrapped(line`      try: ${fix}`, { hang: 11 }).map(style.dim)),
    ];
  });
}

/** A check that asks for repair makes the command fail with the code for unmet preconditions, so that scripts notice. */
export const checksExitCode = (checks: readonly CheckView[]): number =>
  checks.some(({ ok, severity }) => !ok && severity === 'error') ? 13 : 0;

const tried = ({ batteryVersion, checks }: CallResults['contract.verify']): string =>
  `battery ${batteryVersion}, ${checks.length} checks`;

const timed = (check: ContainmentCheckView): CheckView => ({ ...check, detail: `${check.detail} (${check.ms} ms)` });

export function contractLines(data: CallResults['contract.verify'], style: Style): string[] {
  return [
    `${line`${data.contract}`}  ${data.passed ? style.green('passed') : style.red('NOT PASSED')}  ${tried(data)}`,
    ...checkLines(data.checks.map(timed), style),
    ...(data.doesNotCover.length > 0 ? [style.dim('does not cover:')] : []),
    ...data.doesNotCover.flatMap((text) => wrapped(line`  ${text}`, { hang: 4 })),
  ];
}

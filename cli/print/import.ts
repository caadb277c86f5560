/** What became of the records of another tool: the sum first, then every record that did not simply go in. */
import type { ImportedRecord } from '../../actors/ingest/legacy/importing.ts';
import type { LegacyReport } from '../observe/importing.ts';
import { line } from './escape.ts';
import { counted } from './observe.ts';
import { spaced } from './words.ts';

/** Named in one answer for people; `--json` has all. */
const mostShown = 100;

export function importLines({ tool, dryRun, counts, unresolved, gaps, records, source }: LegacyReport): string[] {
  const told = records.filter(({ outcome, reasons }) => !isPlain(outcome) || reasons.length > 0);
  const rest = told.length - mostShown;
  return [
    line`source     ${source.bytes} bytes, sha256 ${source.sha256}`,
    line`records    of ${tool}: ${counted(counts)}${dryRun ? '; a dry run, nothing was written' : ''}`,
    ...(counts.imported === 0 && !dryRun ? ['changed    nothing'] : []),
    ...(unresolved === 0 ? [] : [`unresolved ${unresolved} new runs; nobody can say what became of them`]),
    ...(Object.keys(gaps).length === 0 ? [] : [line`not told   ${counted(gaps)}`]),
    ...told.slice(0, mostShown).map(recordLine),
    ...(rest > 0 ? [`and ${rest} more; --json has all`] : []),
  ];
}

const isPlain = (outcome: ImportedRecord['outcome']): boolean => outcome === 'imported' || outcome === 'known';

function recordLine({ at, kind, name, outcome, id, reasons }: ImportedRecord): string {
  const who = name === null ? '' : line` ${name}`;
  const why = reasons.length === 0 ? '' : `: ${reasons.map((reason) => line`${spaced(reason)}`).join(', ')}`;
  return line`  ${at}  ${kind}` + who + line` ${outcome}${id === null ? '' : ` as ${id}`}` + why;
}

/** Aligned columns. Cells are made printable here, so that no formatter can forget it. */
import { displayWidth } from './displayWidth.ts';
import { printable } from './escape.ts';
import type { Paint, Style } from './style.ts';
import { wrapped } from './wrap.ts';

export type Cell = string | number | null | Painted;

interface Painted {
  readonly text: string;
  readonly paint: Paint;
  /** In the last column: sentences, which go on below where the line is full. */
  readonly isProse?: boolean;
}

export const prose = (text: string, paint: Paint = plainly): Painted => ({ text, paint, isProse: true });

/** One line per row under a dim heading; nothing but `empty` when there are no rows. */
export function table(options: {
  readonly heading: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
  readonly empty: string;
  readonly style: Style;
}): string[] {
  if (options.rows.length === 0) return [options.style.dim(options.empty)];
  const heading = options.heading.map((text) => ({ text, paint: options.style.dim }));
  const rows = [heading, ...options.rows].map((row) => row.map(resolved));
  const widths = options.heading.map((_, column) =>
    Math.max(...rows.map((row) => displayWidth(row[column]?.text ?? ''))),
  );
  const from = widths.slice(0, -1).reduce((sum, width) => sum + width + 2, 0);
  return rows.flatMap((row) => {
    const before = row
      .slice(0, -1)
      .map(({ text, paint }, column) => `${paint(text)}${' '.repeat((widths[column] ?? 0) - displayWidth(text))}  `);
    const last = row.at(-1);
    if (last === undefined) return [before.join('')];
    const [first, ...rest] = linesOf(last, from);
    return [before.join('') + first, ...rest];
  });
}

/** Aligned `name  value` pairs; pairs without a value are left out. */
export function fields(pairs: readonly (readonly [string, Cell | undefined])[], style: Style): string[] {
  const present = pairs.flatMap(([name, cell]) =>
    cell === undefined || cell === null ? [] : [{ name, ...resolved(cell) }],
  );
  const width = Math.max(0, ...present.map(({ name }) => name.length));
  return present.flatMap(({ name, ...cell }) => {
    const [first, ...rest] = linesOf(cell, width + 2);
    return [`${style.dim(name.padEnd(width))}  ${first}`, ...rest];
  });
}

const linesOf = ({ text, paint, isProse }: Painted, from: number): string[] =>
  (isProse ? wrapped(text, { from }) : [text]).map(paint);

const plainly: Paint = (text) => text;

function resolved(cell: Cell): Painted {
  if (typeof cell === 'object' && cell !== null) return { ...cell, text: printable(cell.text) };
  return { text: cell === null ? '-' : printable(cell), paint: plainly };
}

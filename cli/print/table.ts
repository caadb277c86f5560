/** Aligned columns. Cells are made printable here, so that no formatter can forget it. */
import { printable } from './escape.ts';
import type { Paint, Style } from './style.ts';

export type Cell = string | number | null | { readonly text: string; readonly paint: Paint };

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
  return rows.map((row) =>
    row
      .map(({ text, paint }, column) => {
        const isLast = column === row.length - 1;
        return paint(text) + (isLast ? '' : ' '.repeat((widths[column] ?? 0) - displayWidth(text)));
      })
      .join('  '),
  );
}

/** Aligned `name  value` pairs; pairs without a value are left out. */
export function fields(pairs: readonly (readonly [string, Cell | undefined])[], style: Style): string[] {
  const present = pairs.flatMap(([name, cell]) =>
    cell === undefined || cell === null ? [] : [{ name, ...resolved(cell) }],
  );
  const width = Math.max(0, ...present.map(({ name }) => name.length));
  return present.map(({ name, text, paint }) => `${style.dim(name.padEnd(width))}  ${paint(text)}`);
}

function resolved(cell: Cell): { readonly text: string; readonly paint: Paint } {
  if (typeof cell === 'object' && cell !== null) return { text: printable(cell.text), paint: cell.paint };
  return { text: cell === null ? '-' : printable(cell), paint: (text) => text };
}

/** Columns on a terminal: combining marks take none, East Asian wide characters and emoji two. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) {
    if (/[\p{Mn}\p{Me}\u200c\u200d]/u.test(character)) continue;
    width +=
      /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u.test(
        character,
      )
        ? 2
        : 1;
  }
  return width;
}

/** The table behind a picture, newest first; made when somebody opens it, because fourteen of them are thousands of cells. */
import { useState } from 'preact/hooks';
import { measure } from '../text/measure.ts';
import { amount, dateTime } from '../text/quantity.ts';
import { visible } from '../text/visible.ts';
import type { Card } from './lines.ts';

interface FiguresProps {
  readonly title: string;
  readonly card: Card;
}

export function Figures(props: FiguresProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="figures" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        Figures<span class="hidden">{` of ${props.title}`}</span>
      </summary>
      {isOpen && <Table {...props} />}
    </details>
  );
}

function Table({ title, card }: FiguresProps) {
  const { columns, rows } = tableOf(card);
  const { fromMs, stepMs } = card.drawn;
  const shown = rows.map((cells, step) => ({ cells, atMs: fromMs + step * stepMs })).reverse();
  return (
    <section class="figures-all" tabIndex={0} aria-label={`Figures of ${title}`}>
      <table>
        <thead>
          <tr>
            <th scope="col">from</th>
            {columns.map((name) => (
              <th key={name} scope="col">
                {visible(name)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map(
            ({ cells, atMs }) =>
              cells !== null && (
                <tr key={atMs}>
                  <th scope="row">{dateTime(atMs).slice(5, stepMs < 60_000 ? 19 : 16)}</th>
                  {cells.map((cell, column) => (
                    <td key={columns[column]}>{cell}</td>
                  ))}
                </tr>
              ),
          )}
        </tbody>
      </table>
      <p class="faint">Steps in which nothing was measured are left out.</p>
    </section>
  );
}

interface TableOfFigures {
  readonly columns: readonly string[];
  /** One for each step; null where nothing was measured. */
  readonly rows: readonly (readonly string[] | null)[];
}

function tableOf({ drawn, first: { unit } }: Card): TableOfFigures {
  const shown = (value: number | null): string => (value === null ? '' : measure(value, unit));
  if (drawn.kind === 'band')
    return {
      columns: ['p50', 'p95', 'largest', 'values'],
      rows: drawn.steps.map((step) => step && [...[step.p50, step.p95, step.max].map(shown), amount(step.count)]),
    };
  return {
    columns: drawn.lines.map(({ label }) => label || 'value'),
    rows: (drawn.lines[0]?.steps ?? []).map((_, step) => {
      const values = drawn.lines.map(({ steps }) => steps[step] ?? null);
      return values.every((value) => value === null) ? null : values.map(shown);
    }),
  };
}

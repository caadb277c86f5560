import { InvalidArgumentError } from 'commander';

/** For commander: `120x40` as columns and rows. */
export function parseSize(text: string): { readonly cols: number; readonly rows: number } {
  const [, cols, rows] = (/^(\d{1,4})[xX×](\d{1,4})$/.exec(text) ?? []).map(Number);
  const isSize = (value: number | undefined): value is number => value !== undefined && value >= 1 && value <= 1_000;
  if (isSize(cols) && isSize(rows)) return { cols, rows };
  throw new InvalidArgumentError('Give columns and rows such as 120x40 (at most 1000 each).');
}

/** Text in lines that a terminal of the usual width holds, broken between words; a longer word stays whole. */
import { displayWidth } from './displayWidth.ts';

export const columns = 100;

/** `text` is printable already. What follows the first line is indented by `hang` columns, as is the first where `from` says so. */
export function wrapped(
  text: string,
  {
    from = 0,
    hang = from,
    to = columns,
  }: { readonly from?: number; readonly hang?: number; readonly to?: number } = {},
): string[] {
  const [first = '', ...rest] = text.trimStart().split(' ');
  const lines: string[] = [];
  let line = text.slice(0, text.length - text.trimStart().length) + first;
  let width = from + displayWidth(line);
  for (const word of rest) {
    const next = displayWidth(word);
    if (width + 1 + next > to) {
      lines.push(line);
      line = ' '.repeat(hang) + word;
      width = hang + next;
    } else {
      line += ` ${word}`;
      width += 1 + next;
    }
  }
  return [...lines, line];
}

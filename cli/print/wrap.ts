/** Text in lines that a terminal of the usual width holds, broken between words; a longer word stays whole. */
import { displayWidth } from './table.ts';

export const columns = 100;

/** `text` is printable already. What follows the first line is indented by `hang` columns, as is the first where `from` says so. */
export function wrapped(
  text: string,
  { from = 0, hang = from }: { readonly from?: number; readonly hang?: number } = {},
) {
  const lines: string[] = [];
  let line = '';
  let width = from;
  for (const word of text.split(' ')) {
    const next = displayWidth(word);
    if (line !== '' && width + 1 + next > columns) {
      lines.push(line);
      line = ' '.repeat(hang) + word;
      width = hang + next;
    } else {
      line = line === '' ? word : `${line} ${word}`;
      width += (width === from && line === word ? 0 : 1) + next;
    }
  }
  return [...lines, line];
}

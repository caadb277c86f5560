/**
 * How wide text is, without a browser: the advance widths of Helvetica, which Arial and Liberation Sans share, in
 * thousandths of the font size. A drawing says the measured width with each text, so that a reader's font fits in too.
 */
const advances = [
  278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
  556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833,
  722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556,
  556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334,
  260, 334, 584,
];
const firstCode = 32;
/** Of whatever is not in the table: wide enough for every letter of it. */
const unknownAdvance = 1000;
/** Bold letters are wider by about as much. */
const boldness = 1.08;

export interface Font {
  /** Height of the letters, px. */
  readonly size: number;
  readonly bold?: boolean;
}

/** Width in px. */
export function widthOf(text: string, { size, bold = false }: Font): number {
  let thousandths = 0;
  for (const letter of text) thousandths += advances[(letter.codePointAt(0) ?? 0) - firstCode] ?? unknownAdvance;
  return (thousandths / 1000) * size * (bold ? boldness : 1);
}

/** Lines of at most `width` px, broken at blanks; a word that is wider has a line of its own. */
export function wrap(text: string, font: Font, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    const joined = last === undefined ? word : `${last} ${word}`;
    if (last !== undefined && widthOf(joined, font) <= width) lines[lines.length - 1] = joined;
    else lines.push(word);
  }
  return lines;
}

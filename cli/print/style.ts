/** Colour and emphasis; every function returns its argument unchanged where colour is off. */
export interface Style {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly red: Paint;
  readonly green: Paint;
  readonly yellow: Paint;
}

export type Paint = (text: string) => string;

export const plain: Style = { bold: same, dim: same, red: same, green: same, yellow: same };

const colourful: Style = {
  bold: sgr(1, 22),
  dim: sgr(2, 22),
  red: sgr(31, 39),
  green: sgr(32, 39),
  yellow: sgr(33, 39),
};

/** Colours for a terminal that shows them, unless --no-color or NO_COLOR (no-color.org) forbids. */
export function styleFor(
  stream: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
  allowed: boolean,
): Style {
  return allowed && stream.isTTY && !env.NO_COLOR && env.TERM !== 'dumb' ? colourful : plain;
}

function same(text: string): string {
  return text;
}

function sgr(on: number, off: number): Paint {
  return (text) => `\u001b[${on}m${text}\u001b[${off}m`;
}

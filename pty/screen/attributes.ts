/** Attributes as the sequences that select them (ECMA 48 SGR; ISO 8613-6 colours; OSC 8 links). */
import type { Attributes, Inner } from './internals.ts';

/** Bits of the two numbers, as the terminal lays them out. */
const colorMode = 0x3000000;
const paletteSmall = 0x1000000;
const paletteLarge = 0x2000000;
const underlineBit = 0x10000000;
const fgFlags: readonly (readonly [bit: number, code: number])[] = [
  [0x8000000, 1],
  [0x20000000, 5],
  [0x4000000, 7],
  [0x40000000, 8],
  [0x80000000, 9],
];
const bgFlags: readonly (readonly [bit: number, code: number])[] = [
  [0x8000000, 2],
  [0x4000000, 3],
  [0x40000000, 53],
];

/** Selects exactly these attributes of a cell, whatever was selected before. */
export function sgr(attributes: Attributes): string {
  return select(attributes, attributes.hasExtendedAttrs() ? attributes.extended.underlineColor : 0);
}

/** The same for what is written next, which may have a colour for lines without having a line. */
export function sgrOfNext(attributes: Attributes): string {
  return select(attributes, attributes.extended.underlineColor);
}

function select(attributes: Attributes, lineColor: number): string {
  const { fg, bg } = attributes;
  const codes: (number | string)[] = [0];
  for (const [bit, code] of fgFlags) if (fg & bit) codes.push(code);
  for (const [bit, code] of bgFlags) if (bg & bit) codes.push(code);
  const style = attributes.hasExtendedAttrs() ? (attributes.extended._ext >> 26) & 7 : 0;
  if (style > 1) codes.push(`4:${style}`);
  else if (fg & underlineBit) codes.push(4);
  codes.push(...color(fg, 30), ...color(bg, 40));
  codes.push(...underlineColor(lineColor));
  return codes.length === 1 ? '\x1b[m' : `\x1b[${codes.join(';')}m`;
}

/** The background alone: what erasing leaves. */
export function backgroundOf(bg: number): string {
  const codes = color(bg, 40);
  return codes.length === 0 ? '\x1b[m' : `\x1b[0;${codes.join(';')}m`;
}

/** Only the colour of a background, without the flags that share its number. */
export function backgroundColor(bg: number): number {
  return bg & (colorMode | 0xffffff);
}

function color(value: number, base: 30 | 40): (number | string)[] {
  const mode = value & colorMode;
  const index = value & 0xff;
  if (mode === 0) return [];
  if (mode === paletteSmall) return [index < 8 ? base + index : base + 60 + (index & 7)];
  if (mode === paletteLarge) return [`${base + 8};5;${index}`];
  return [`${base + 8};2;${(value >>> 16) & 0xff};${(value >>> 8) & 0xff};${index}`];
}

function underlineColor(value: number): string[] {
  const mode = value & colorMode;
  // All bits set means that it follows the text.
  if (mode === 0 || (value & 0xffffff) === 0xffffff) return [];
  if (mode !== colorMode) return [`58:5:${value & 0xff}`];
  return [`58:2::${(value >>> 16) & 0xff}:${(value >>> 8) & 0xff}:${value & 0xff}`];
}

/** Opens the link that the attributes belong to, or closes any. */
export function hyperlink(attributes: Attributes, inner: Inner): string {
  const link = urlId(attributes) === 0 ? undefined : inner._oscLinkService.getLinkData(urlId(attributes));
  return link === undefined
    ? '\x1b]8;;\x1b\\'
    : `\x1b]8;${link.id === undefined ? '' : `id=${link.id}`};${link.uri}\x1b\\`;
}

export function urlId(attributes: Attributes): number {
  return attributes.hasExtendedAttrs() ? attributes.extended.urlId : 0;
}

/** Equal texts look equal. */
export function attributesKey(attributes: Attributes): string {
  const { fg, bg } = attributes;
  if (!attributes.hasExtendedAttrs()) return `${fg},${bg}`;
  const { _ext, urlId: url } = attributes.extended;
  return `${fg},${bg},${_ext},${url}`;
}

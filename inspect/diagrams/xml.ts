/** Text within XML: what a name holds never becomes markup, and what XML cannot hold is shown as U+FFFD. */
const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

const isAllowed = (code: number): boolean =>
  code === 9 ||
  code === 10 ||
  code === 13 ||
  (code >= 0x20 && code < 0xd800) ||
  (code > 0xdfff && code < 0xfffe) ||
  code > 0xffff;

export function escapeXml(text: string): string {
  const allowed = Array.from(text, (letter) => (isAllowed(letter.codePointAt(0) ?? 0) ? letter : '\ufffd')).join('');
  return allowed.replace(/[&<>"]/g, (letter) => entities[letter] ?? letter);
}

export type Attributes = Readonly<Record<string, string | number | undefined>>;

const shown = (value: string | number): string => escapeXml(typeof value === 'number' ? String(round(value)) : value);

/** To a tenth of a pixel: a finer difference is not seen, and makes a drawing another one for nothing. */
export const round = (value: number): number => Math.round(value * 10) / 10;

export function element(name: string, attributes: Attributes, content?: string | readonly string[]): string {
  const written = Object.entries(attributes)
    .filter((entry): entry is [string, string | number] => entry[1] !== undefined)
    .map(([key, value]) => ` ${key}="${shown(value)}"`)
    .join('');
  if (content === undefined) return `<${name}${written}/>`;
  return `<${name}${written}>${typeof content === 'string' ? content : content.join('')}</${name}>`;
}

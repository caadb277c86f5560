/**
 * What a workload or a person wrote, fit to be looked at: a character that shows nothing, or changes the order in which its
 * neighbours are read, is replaced by its number, as the command line does. The page puts the result into text nodes only.
 */

/** Joiners inside emoji and Indic scripts are harmless and stay. */
const invisible = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
const plainAscii = /^[ -~]*$/;
const short: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

export function visible(value: unknown): string {
  const text = String(value);
  if (plainAscii.test(text)) return text;
  return text.replace(invisible, (character) => {
    const code = character.codePointAt(0) as number;
    const hex = code.toString(16);
    return short[character] ?? (code < 0x100 ? `\\x${hex.padStart(2, '0')}` : `\\u{${hex}}`);
  });
}

/** The same for text of several lines, whose line ends and tabs are meant. */
export function visibleLines(text: string): string {
  return text
    .split('\n')
    .map((line) => line.split('\t').map(visible).join('\t'))
    .join('\n');
}

/** The last part of a path of states. No other word for it: that a run is bound does not prove that it is running. */
export function stateInWords(path: string): string {
  return inWords(path.split('.').at(-1) ?? path);
}

/** `drainBlocked`, `own_receipt`, `awaitingTick`: what charts and codes are called, as people say it. */
export function inWords(code: string): string {
  return code.replaceAll('_', ' ').replace(/([a-z])([A-Z])/g, (_, before: string, after: string) => {
    return `${before} ${after.toLowerCase()}`;
  });
}

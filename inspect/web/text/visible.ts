/**
 * What a workload or a person wrote, fit to be looked at: a character that shows nothing, or changes the order in which its
 * neighbours are read, is replaced by a picture or by its number. The page puts the result into text nodes only.
 */

/** Joiners inside emoji and Indic scripts are harmless and stay. */
const invisible = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
const plainAscii = /^[ -~]*$/;
/** U+2400 and following: the pictures that Unicode has for the control characters of ASCII. */
const firstPicture = 0x2400;
const pictureOfDelete = '\u2421';

export function visible(value: unknown): string {
  const text = String(value);
  if (plainAscii.test(text)) return text;
  return text.replace(invisible, (character) => {
    const code = character.codePointAt(0) as number;
    if (code < 0x20) return String.fromCharCode(firstPicture + code);
    return code === 0x7f ? pictureOfDelete : `\\u{${code.toString(16)}}`;
  });
}

/** The same for text of several lines, whose line ends and tabs are meant. */
export function visibleLines(text: string): string {
  return text
    .split('\n')
    .map((line) => line.split('\t').map(visible).join('\t'))
    .join('\n');
}

/** `drainBlocked`, `own_receipt`, `awaitingTick`: what charts and codes are called, as people say it. */
export function inWords(code: string): string {
  return code.replaceAll('_', ' ').replace(/([a-z])([A-Z])/g, (_, before: string, after: string) => {
    return `${before} ${after.toLowerCase()}`;
  });
}

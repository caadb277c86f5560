/**
 * Text that a workload or a person chose (names, paths, titles) reaches a terminal only through here: control, format
 * and direction characters could otherwise move the cursor, retitle the window or reorder what is read.
 */

/** Joiners inside emoji and Indic scripts are harmless and stay. */
const unprintable = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
/** Nearly every text is this, and the test costs far less than the classes above. */
const plainAscii = /^[ -~]*$/;
const short: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** One line, safe for any terminal. */
export function printable(value: unknown): string {
  const text = String(value);
  if (plainAscii.test(text)) return text;
  return text.replace(unprintable, (character) => {
    const code = character.codePointAt(0) as number;
    const hex = code.toString(16);
    return short[character] ?? (code < 0x100 ? `\\x${hex.padStart(2, '0')}` : `\\u{${hex}}`);
  });
}

/** Tagged template whose insertions are made printable; style what it returns, never what goes in. */
export function line(parts: TemplateStringsArray, ...values: readonly unknown[]): string {
  return parts.reduce((text, part, index) => text + printable(values[index - 1]) + part);
}

/** JSON in which no character can act on a terminal; the text that it stands for is unchanged. */
export function terminalSafeJson(value: unknown): string {
  const text = JSON.stringify(value);
  if (plainAscii.test(text)) return text;
  return text.replace(unprintable, (character) =>
    Array.from(
      { length: character.length },
      (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}

/** What the private log says of anything thrown. */

/** Long enough for what SQLite, git and Node say; what is cut off is counted, so that nobody takes a part for the whole. */
const longestMessage = 4_000;

const shortened = (text: string | undefined): string | undefined =>
  text === undefined || text.length <= longestMessage
    ? text
    : `${text.slice(0, longestMessage)}… (${text.length - longestMessage} more characters)`;

/** Name, code, the message cut short, and the stack of our own frames: for the private log, never for a reply. */
export function describe(error: unknown): Record<string, unknown> {
  const { name, code, message, stack } = (error ?? {}) as {
    name?: string;
    code?: unknown;
    message?: string;
    stack?: string;
  };
  return { name, code, message: shortened(message), stack: stack?.split('\n').slice(1, 8).join('\n') };
}

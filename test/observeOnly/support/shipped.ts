/**
 * The program as it ships, run inside this process, for tests that ask it thousands of times: nothing is left out but the
 * start of Node.
 */
import { fileURLToPath } from 'node:url';

export interface Said {
  readonly code: number;
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what the tests are about.
  readonly json: any;
}

const program = fileURLToPath(new URL('../../../dist/observe.js', import.meta.url));

/** `custody observe ARGS --json` on this state directory; one at a time. */
export async function shipped(stateDir: string, args: readonly string[]): Promise<Said> {
  const { main } = (await import(program)) as { main(typed: readonly string[]): Promise<void> };
  const { write } = process.stdout;
  const [exitCode, mask] = [process.exitCode, process.umask()];
  let printed = '';
  process.exitCode = undefined;
  process.stdout.write = (text: unknown) => {
    printed += String(text);
    return true;
  };
  try {
    await main([...args, '--json', '--state-dir', stateDir]);
    return { code: Number(process.exitCode ?? 0), json: JSON.parse(printed) };
  } finally {
    process.stdout.write = write;
    process.exitCode = exitCode;
    process.umask(mask);
  }
}

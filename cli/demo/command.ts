/** Other programs' part in the demonstration: git, and a shell that looks on from outside. */
import { execFile } from 'node:child_process';
import { OperatingError } from '../../actors/runtime/operatingError.ts';

export interface CommandOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  readonly input?: string;
  readonly signal?: AbortSignal;
}

interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const largestOutput = 16 * 1024 * 1024;

/**
 * Runs a program to its end; when the signal aborts, that end is hastened and still waited for, so that nobody writes to
 * a directory that is about to be removed. Throws `tool_missing` (exit 8) when there is no such program.
 */
export function attempt(program: string, args: readonly string[], options: CommandOptions): Promise<Finished> {
  const { env, cwd = '/', input, signal } = options;
  return new Promise((resolve, reject) => {
    const settings = { env, cwd, maxBuffer: largestOutput, encoding: 'utf8', ...(signal ? { signal } : {}) } as const;
    const child = execFile(program, [...args], settings, (error, stdout, stderr) => {
      if (error === null) resolve({ code: 0, stdout, stderr });
      else if (signal?.aborted) void closed.then(() => reject(signal.reason));
      else if (typeof error.code === 'number') resolve({ code: error.code, stdout, stderr });
      else reject((error.code as string | undefined) === 'ENOENT' ? toolMissing(program) : error);
    });
    const closed = new Promise((ended) => child.once('close', ended));
    child.stdin?.on('error', () => {}).end(input ?? '');
  });
}

/** What it wrote to its standard output, without the last line break. Throws `command_failed` with what it complained. */
export async function outputOf(program: string, args: readonly string[], options: CommandOptions): Promise<string> {
  const { code, stdout, stderr } = await attempt(program, args, options);
  if (code === 0) return stdout.replace(/\n$/, '');
  throw new OperatingError({
    code: 'command_failed',
    message: `${program} ${args[0] ?? ''} ended with ${code}: ${stderr.trim()}`,
    exitCode: 1,
  });
}

export const toolMissing = (name: string): OperatingError =>
  new OperatingError({
    code: 'tool_missing',
    message: `the demonstration needs the program ${name}, and there is none in PATH`,
    exitCode: 8,
    next: [`install ${name}`],
  });

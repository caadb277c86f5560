/** What is said to the service manager of this user, through its own program. */
import { execFile } from 'node:child_process';

/** Without a bound a manager that hangs would keep the daemon that it is to end. */
const answerMs = 20_000;

export interface ManagerAnswer {
  readonly stdout: string;
  /** Why the order was not taken, in one line; undefined when it was. */
  readonly refusal: string | undefined;
}

/** Never throws: a program that is not there is one that does not take the order. */
export function callServiceManager(program: string, args: readonly string[]): Promise<ManagerAnswer> {
  return new Promise((resolve) => {
    execFile(program, ['--user', ...args], { timeout: answerMs, cwd: '/' }, (error, stdout, stderr) => {
      if (error === null) resolve({ stdout, refusal: undefined });
      else if (error.code === 'ENOENT') resolve({ stdout, refusal: `${program} is not there` });
      else resolve({ stdout, refusal: firstLine(stderr) || firstLine(error.message) });
    });
  });
}

const firstLine = (text: string): string => text.trim().split('\n')[0] ?? '';

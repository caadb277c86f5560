/** What is said to the service manager of this user, through its own program. */
import { execFile } from 'node:child_process';

/** Without a bound a manager that hangs would keep the daemon that it is to end. */
const answerMs = 20_000;

/** Undefined when the order was taken, else why it was not, in one line. */
export function callServiceManager(program: string, args: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(program, ['--user', ...args], { timeout: answerMs, cwd: '/' }, (error, _stdout, stderr) => {
      if (error === null) resolve(undefined);
      else if (error.code === 'ENOENT') resolve(`${program} is not there`);
      else resolve(firstLine(stderr) || firstLine(error.message));
    });
  });
}

const firstLine = (text: string): string => text.trim().split('\n')[0] ?? '';

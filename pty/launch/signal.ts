import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { errnoOf, GuardianLaunchError } from './errors.ts';

export interface SignalRequest {
  readonly guardianPath: string;
  readonly pid: number;
  /** Clock ticks since boot, decimal: the process must still be the one that was recorded. */
  readonly start: string;
  readonly uid: number;
  readonly signal: NodeJS.Signals | 0;
}

export type SignalResult = 'sent' | 'gone' | 'identity_differs' | 'not_permitted';

const results: Readonly<Record<number, SignalResult>> = {
  0: 'sent',
  3: 'gone',
  4: 'identity_differs',
  5: 'not_permitted',
};

/**
 * Signals exactly the recorded process or nobody, through `custody-guardian signal`: Node itself can only name a pid,
 * which may have been reused. Signal 0 asks whether it could be signalled.
 */
export function signalProcess(request: SignalRequest): Promise<SignalResult> {
  const number = request.signal === 0 ? 0 : constants.signals[request.signal];
  const args = ['signal', String(request.pid), request.start, String(request.uid), String(number)];
  return new Promise((resolve, reject) => {
    const child = spawn(request.guardianPath, args, { cwd: '/', env: {}, stdio: 'ignore' });
    child.once('error', (error: NodeJS.ErrnoException) => {
      const code = error.code === 'ENOENT' ? 'guardian_missing' : 'spawn_failed';
      reject(new GuardianLaunchError({ code, phase: 'spawn', errno: errnoOf(error), cause: error }));
    });
    child.once('exit', (code) => {
      const result = code === null ? undefined : results[code];
      if (result !== undefined) resolve(result);
      else reject(new GuardianLaunchError({ code: 'request_invalid', phase: 'spawn', step: 'signal', exitCode: code }));
    });
  });
}

/** Which variables leave the caller's shell (ruling 23): an allow-list, plus what the caller names. */
import { isOrdinary, pickEnvironment } from '../actors/runtime/environment.ts';
import { traceVariables } from '../inspect/traces/settings.ts';
import { usage } from './failure.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const daemonNames = new Set(['PATH', 'HOME', 'LANG', 'TMPDIR', 'USER', 'LOGNAME']);

/**
 * The workload's whole environment. `named` holds what --env was given: `NAME=VALUE`, or `NAME` to pass the caller's
 * own value. A name that the caller does not have is an error: a missing credential should fail here, not in the work.
 */
export function workloadEnvironment(env: Environment, named: readonly string[]): Record<string, string> {
  const chosen = pickEnvironment(env, (name) => isOrdinary(name) || name === 'TERM');
  for (const entry of named) {
    const equals = entry.indexOf('=');
    const name = equals < 0 ? entry : entry.slice(0, equals);
    if (name === '')
      throw usage(`--env ${JSON.stringify(entry)} names no variable`, ['--env NAME or --env NAME=VALUE']);
    const here = Object.hasOwn(env, name) ? env[name] : undefined;
    const value = equals < 0 ? here : entry.slice(equals + 1);
    if (value === undefined) {
      throw usage(`--env ${name}: there is no such variable here`, [`--env ${name}=VALUE`]);
    }
    chosen[name] = value;
  }
  return chosen;
}

/** What the daemon may inherit from the shell that happened to start it: enough to find things, no credentials. */
export function daemonEnvironment(env: Environment): Record<string, string> {
  return pickEnvironment(
    env,
    (name) =>
      daemonNames.has(name) ||
      traceVariables.has(name) ||
      (/^(XDG|CUSTODY|NODE)_/.test(name) && !name.startsWith('NODE_CHANNEL_')),
  );
}

/** Which variables leave the caller's shell (ruling 23): an allow-list, plus what the caller names. */
import { usage } from './failure.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const workloadNames = new Set(['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LANGUAGE', 'TZ', 'TMPDIR', 'TERM']);
const daemonNames = new Set(['PATH', 'HOME', 'LANG', 'TMPDIR', 'USER', 'LOGNAME']);

/**
 * The workload's whole environment. `named` holds what --env was given: `NAME=VALUE`, or `NAME` to pass the caller's
 * own value. A name that the caller does not have is an error: a missing credential should fail here, not in the work.
 */
export function workloadEnvironment(env: Environment, named: readonly string[]): Record<string, string> {
  const chosen = pick(env, (name) => workloadNames.has(name) || name.startsWith('LC_'));
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
  return pick(
    env,
    (name) => daemonNames.has(name) || (/^(XDG|CUSTODY|NODE)_/.test(name) && !name.startsWith('NODE_CHANNEL_')),
  );
}

function pick(env: Environment, wanted: (name: string) => boolean): Record<string, string> {
  // Without a prototype, so that a variable may be named `__proto__`.
  const chosen: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(env)) if (value !== undefined && wanted(name)) chosen[name] = value;
  return chosen;
}

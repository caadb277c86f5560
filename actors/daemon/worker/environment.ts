/** What the worker, and every check that it runs, finds in its environment (ruling 23): enough to find things, no credentials. */

const names: ReadonlySet<string> = new Set([
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LANGUAGE',
  'TZ',
  'TMPDIR',
]);

export function workerEnvironment(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const chosen: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && (names.has(name) || name.startsWith('LC_'))) chosen[name] = value;
  }
  return chosen;
}

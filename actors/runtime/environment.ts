/** Which variables a program finds that Custody starts (ruling 23): those of an allow-list, and no credentials. */

type Environment = Readonly<Record<string, string | undefined>>;

const ordinary = new Set(['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LANGUAGE', 'TZ', 'TMPDIR']);

/** Whether every workload may have it: enough to find things, and to speak the user's language. */
export const isOrdinary = (name: string): boolean => ordinary.has(name) || name.startsWith('LC_');

export function pickEnvironment(env: Environment, wanted: (name: string) => boolean): Record<string, string> {
  // Without a prototype, so that a variable may be named `__proto__`.
  const chosen: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(env)) if (value !== undefined && wanted(name)) chosen[name] = value;
  return chosen;
}

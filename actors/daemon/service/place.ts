/** Whether and where a service manager looks after the daemon of this user. */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

export const unitName = 'custody.service';

/** The first line of every unit that is ours; without it a file is somebody else's, whatever its name. */
export const unitMark = '# Written by `custody service install`; `custody service uninstall` removes it.';

export interface ServicePlace {
  readonly unit: string;
  /** This very process was started by it. */
  readonly isServed: boolean;
  readonly unitFile: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** `$XDG_CONFIG_HOME/systemd/user/custody.service` (systemd.unit(5)). */
export const unitFileOf = ({ XDG_CONFIG_HOME, HOME }: Environment): string =>
  join(XDG_CONFIG_HOME || join(HOME || homedir(), '.config'), 'systemd', 'user', unitName);

/** `unit` is what the daemon was told by its own unit file. An invocation id in the environment may be that of a terminal. */
export const servicePlace = (env: Environment, unit: string | undefined): ServicePlace => ({
  unit: unit ?? unitName,
  isServed: unit !== undefined,
  unitFile: unitFileOf(env),
});

/** `none`, `ours`, or `foreign`: a file that we have not written. */
export function unitState(unitFile: string): 'none' | 'ours' | 'foreign' {
  try {
    return readFileSync(unitFile, 'utf8').startsWith(`${unitMark}\n`) ? 'ours' : 'foreign';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'none' : 'foreign';
  }
}

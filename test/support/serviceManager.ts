/** Stands for systemctl: writes down how it was called, and does what a test wants done then. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { unitFileOf, unitMark } from '../../actors/daemon/service/place.ts';

export interface ServiceManager {
  readonly program: string;
  /** The arguments of every call so far, each as one line. */
  calls(): readonly string[];
}

/** `script` is run by sh for every call, with the call's arguments. */
export function serviceManager(dir: string, script = 'exit 0'): ServiceManager {
  const [program, record] = [join(dir, 'systemctl'), join(dir, 'systemctl.calls')];
  writeFileSync(program, `#!/bin/sh\necho "$*" >> "${record}"\n${script}\n`);
  chmodSync(program, 0o755);
  return {
    program,
    calls: () => (existsSync(record) ? readFileSync(record, 'utf8').trimEnd().split('\n') : []),
  };
}

/** A unit file that counts as ours. */
export function writeUnit(home: string, text = `${unitMark}\n`): string {
  const path = unitFileOf({ HOME: home });
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

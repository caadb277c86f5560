/**
 * What the procfs mount may hide, out of `/proc/self/mountinfo` (proc_pid_mountinfo(5)). Only what is mounted last on a
 * path counts, because it covers the earlier ones.
 */

export type HidePid = 'off' | 'noaccess' | 'invisible' | 'ptraceable';

export interface ProcMount {
  /** Mount id and device: another value means another procfs instance, whatever its options. */
  readonly instance: string;
  readonly hidePid: HidePid;
  /** Members of this group see every process unless hidePid is `ptraceable`; the kernel's default is 0. */
  readonly gid: number;
  /** `subset=pid`: everything outside the process directories is missing, the boot id included. */
  readonly pidsOnly: boolean;
}

/** Kernels before 5.8 print numbers, later ones names; both may be given to mount(8). */
const HIDE_PID_FORMS: Readonly<Record<string, HidePid>> = {
  '0': 'off',
  off: 'off',
  '1': 'noaccess',
  noaccess: 'noaccess',
  '2': 'invisible',
  invisible: 'invisible',
  '4': 'ptraceable',
  ptraceable: 'ptraceable',
};

/** Blanks, line feeds and backslashes in paths are written as three octal digits. */
export function decodePath(field: string): string {
  return field.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

/**
 * Finds the procfs mounted on `mountPoint`. Returns undefined when there is none, or when it carries a hidepid value that
 * this version does not know: then nobody can say what the mount hides.
 */
export function parseProcMount(text: string, mountPoint: string): ProcMount | undefined {
  let found: ProcMount | undefined;
  for (const line of text.split('\n')) {
    const fields = line.split(' ');
    const separator = fields.indexOf('-', 6);
    if (separator < 0 || decodePath(fields[4]!) !== mountPoint) continue;
    if (fields[separator + 1] !== 'proc' || fields[3] !== '/') {
      found = undefined;
      continue;
    }
    found = readOptions(`${fields[0]}:${fields[2]}`, `${fields[5]},${fields[separator + 3] ?? ''}`);
  }
  return found;
}

function readOptions(instance: string, options: string): ProcMount | undefined {
  let hidePid: HidePid | undefined = 'off';
  let gid = 0;
  let pidsOnly = false;
  for (const option of options.split(',')) {
    const [name, value = ''] = option.split('=', 2);
    if (name === 'hidepid') hidePid = HIDE_PID_FORMS[value];
    if (name === 'gid') gid = Number(value);
    if (name === 'subset') pidsOnly = true;
  }
  return hidePid === undefined ? undefined : { instance, hidePid, gid, pidsOnly };
}

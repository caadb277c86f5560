/**
 * Under which other names a directory can be seen: bind mounts, and the mount namespaces of sandboxes, show the same file
 * system at another place (proc_pid_mountinfo(5)).
 */
import { decodePath } from './mountinfo.ts';

interface Mount {
  /** Major and minor number: the file system. */
  readonly device: string;
  /** What of the file system is mounted. */
  readonly root: string;
  readonly at: string;
}

/** Where a directory lies in its file system, whatever it is called. */
export interface Whereabouts {
  readonly device: string;
  readonly path: string;
}

/** From the bytes of a mountinfo file, each taken for a letter; lines that cannot be read are left out. */
export function parseMounts(latin1: string): Mount[] {
  const text = Buffer.from(latin1, 'latin1').toString('utf8');
  return text.split('\n').flatMap((line) => {
    const [, , device, root, at] = line.split(' ');
    return device === undefined || root === undefined || at === undefined
      ? []
      : [{ device, root: decodePath(root), at: decodePath(at) }];
  });
}

/** Undefined when no mount is above the directory, which only a torn read can show. */
export function whereaboutsOf(mounts: readonly Mount[], directory: string): Whereabouts | undefined {
  // Of several on one path the last covers the others, and the longest path is the innermost.
  const mount = mounts
    .filter(({ at }) => restBelow(directory, at) !== undefined)
    .reduce<Mount | undefined>((best, one) => (best && best.at.length > one.at.length ? best : one), undefined);
  return mount && { device: mount.device, path: joined(mount.root, restBelow(directory, mount.at)!) };
}

/** Every path at which these mounts show the directory or something below it. */
export function aliasesOf(mounts: readonly Mount[], { device, path }: Whereabouts): string[] {
  return mounts
    .filter((mount) => mount.device === device)
    .flatMap(({ root, at }) => {
      const rest = restBelow(path, root);
      if (rest !== undefined) return [joined(at, rest)];
      return restBelow(root, path) === undefined ? [] : [at];
    });
}

/** What follows `above` in `path`, with its slash; empty for the same path. */
function restBelow(path: string, above: string): string | undefined {
  if (above === '/') return path === '/' ? '' : path;
  if (path === above) return '';
  return path.startsWith(`${above}/`) ? path.slice(above.length) : undefined;
}

const joined = (above: string, rest: string): string => (above === '/' ? rest || '/' : above + rest);

/** Writes a report as a .tar.gz that nobody else can read (0600), whole or not at all. */
import { existsSync, linkSync, renameSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { OperatingError } from '../../actors/runtime/operatingError.ts';
import type { ReportFile } from './report.ts';

/** Returns the size in bytes. Throws `target_exists` (exit 2), and what open(2) and write(2) do. */
export async function writeArchive(path: string, files: readonly ReportFile[], force: boolean): Promise<number> {
  if (!force && existsSync(path)) throw targetExists(path);
  const archive = pack();
  for (const { name, text } of files)
    archive.entry({ name: `custody-bug-report/${name}`, mode: 0o600, mtime: new Date(0) }, text);
  archive.finalize();
  const bytes = gzipSync(await buffer(archive));
  const draft = `${path}.${process.pid}.new`;
  try {
    const file = await open(draft, 'wx', 0o600);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    if (force) renameSync(draft, path);
    else putNew(draft, path);
  } catch (thrown) {
    rmSync(draft, { force: true });
    throw thrown;
  }
  return bytes.length;
}

/** Whatever took the name meanwhile stays, a link that leads nowhere included. */
function putNew(draft: string, path: string): void {
  try {
    linkSync(draft, path);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'EEXIST') throw targetExists(path);
    throw thrown;
  }
  rmSync(draft);
}

const targetExists = (path: string): OperatingError =>
  new OperatingError({
    code: 'target_exists',
    message: `${path} exists already`,
    exitCode: 2,
    next: ['name another file with --output', 'replace it with --force'],
  });

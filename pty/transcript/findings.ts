import { closeSync } from 'node:fs';
import { join } from 'node:path';
import { directoryProblem, type FileProblem, openOwnFile } from './files.ts';
import { readIndexLines } from './indexLines.ts';
import { indexName, parseHeader, type TranscriptHeader, transcriptVersion } from './layout.ts';

/** What is wrong with a transcript on disk. Each has a name, so that a program can tell them apart. */
export type FindingCode =
  | 'directory.missing'
  | 'directory.symlink'
  | 'directory.foreignOwner'
  | 'directory.notRegular'
  | 'directory.unreadable'
  | 'index.missing'
  | 'index.symlink'
  | 'index.foreignOwner'
  | 'index.notRegular'
  | 'index.unreadable'
  | 'index.headerInvalid'
  | 'index.newerVersion'
  /** Half a line at the end: the writer was killed in the middle of it. */
  | 'index.tornLine'
  | 'index.badLine'
  | 'segment.missing'
  | 'segment.symlink'
  | 'segment.foreignOwner'
  | 'segment.notRegular'
  | 'segment.unreadable'
  /** It ends before the next one begins. */
  | 'segment.short'
  /** It holds more than a segment may. */
  | 'segment.long'
  /** The index speaks of bytes that are not stored. */
  | 'raw.shorterThanIndex'
  /** Bytes follow the ones that the index closed with. */
  | 'raw.longerThanIndex';

export interface Finding {
  readonly code: FindingCode;
  /** The file, line or offset that it is about. */
  readonly at: string | number;
}

export function fileFinding(subject: 'directory' | 'index' | 'segment', problem: FileProblem, at: string): Finding {
  return { code: `${subject}.${problem}`, at };
}

/** The header, or everything that keeps anybody from reading on. */
export async function readHeader(dir: string): Promise<TranscriptHeader | readonly Finding[]> {
  const directory = directoryProblem(dir);
  if (directory !== undefined) return [fileFinding('directory', directory, dir)];
  const path = join(dir, indexName);
  const opened = openOwnFile(path);
  if ('problem' in opened) return [fileFinding('index', opened.problem, path)];
  closeSync(opened.fd);
  let first: string | undefined;
  for await (const lines of readIndexLines(dir)) {
    first = lines[0];
    if (first !== undefined) break;
  }
  const version = versionOf(first);
  if (version !== undefined && version > transcriptVersion) return [{ code: 'index.newerVersion', at: version }];
  return parseHeader(first ?? '') ?? [{ code: 'index.headerInvalid', at: path }];
}

/** A newer header may have another shape, so its version is read by itself. */
function versionOf(line: string | undefined): number | undefined {
  try {
    const { version } = JSON.parse(line ?? '') as { version?: unknown };
    return typeof version === 'number' ? version : undefined;
  } catch {
    return undefined;
  }
}

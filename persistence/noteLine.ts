/**
 * A note as a line of bytes (docs/notes.md). Its sum is a matter of the line and not of what is said: it covers the bytes
 * before it as they are, so a line that was taken apart and put together again has none, or a wrong one.
 */
import { hash } from 'node:crypto';
import { type Note, noteSchema } from '../machines/note.ts';
import { problemWord } from '../machines/problemWords.ts';

export type ReadLine =
  | { readonly note: Note }
  | { readonly problem: 'not_json' | 'note_damaged' }
  | { readonly problem: 'not_a_note'; readonly fields: string };

const sumMember = /^,"sum":"([0-9a-f]{64})"\}$/;
const sumBytes = ',"sum":""}'.length + 64;

/** `line` without its line feed. What is wrong is told without anything that stood there. */
export function readLine(line: Buffer): ReadLine {
  const [, sum] = sumMember.exec(line.toString('latin1', Math.max(0, line.length - sumBytes))) ?? [];
  const said = sum === undefined ? line : line.subarray(0, line.length - sumBytes);
  if (sum !== undefined && hash('sha256', said, 'hex') !== sum) return { problem: 'note_damaged' };
  let value: unknown;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(said);
    value = JSON.parse(sum === undefined ? text : `${text}}`);
  } catch {
    return { problem: 'not_json' };
  }
  const verdict = noteSchema.safeParse(value);
  if (verdict.success) return { note: verdict.data };
  const fields = verdict.error.issues.map(
    (issue) => `${issue.path.map(String).join('.') || 'note'}: ${problemWord(issue)}`,
  );
  return { problem: 'not_a_note', fields: [...new Set(fields)].join(', ').slice(0, 300) };
}

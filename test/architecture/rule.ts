import type { SourceFile } from './project.ts';
import { lineAt, type SyntaxNode } from './syntax.ts';

export interface Finding {
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

/** Path → content of a made-up project. */
export type Example = Readonly<Record<string, string>>;

/**
 * A rule over the project's own source. `caught` holds one made-up project for each way of breaking it (a rule whose
 * negative controls are missing proves nothing); `allowed` holds what looks alike and is right.
 */
export interface Rule {
  readonly name: string;
  check(files: readonly SourceFile[]): Finding[];
  readonly caught: readonly Example[];
  readonly allowed?: readonly Example[];
}

export function finding(file: SourceFile, where: SyntaxNode | number, message: string): Finding {
  return { path: file.path, line: typeof where === 'number' ? where : lineAt(file, where.start), message };
}

/** Findings for the lines of a file that match. */
export function matchingLines(file: SourceFile, pattern: RegExp, message: string): Finding[] {
  return file.text
    .split('\n')
    .flatMap((text, index) => (pattern.test(text) ? [finding(file, index + 1, message)] : []));
}

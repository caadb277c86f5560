import { posix } from 'node:path';
import type { SourceFile } from './project.ts';
import { child, children, lineAt, nameOf, nodesOfType, type SyntaxNode } from './syntax.ts';

export interface Import {
  readonly line: number;
  /** A path relative to the root for a file of the project, else the specifier as written (`zod`, `node:fs`). */
  readonly target: string;
  readonly internal: boolean;
  /** Nothing of it is left at run time. */
  readonly typeOnly: boolean;
  /** Imported names; `*` for a namespace, `default` for a default import, none for a bare or dynamic import. */
  readonly names: readonly string[];
}

const importing = [
  'ImportDeclaration',
  'ExportNamedDeclaration',
  'ExportAllDeclaration',
  'ImportExpression',
  'TSImportType',
] as const;

/** Every import, re-export, dynamic import and `import('…')` type of a file. */
export function importsOf(file: SourceFile): Import[] {
  return nodesOfType(file, ...importing).flatMap((node) => {
    const specifier = nameOf(child(node, 'source'));
    if (specifier === undefined) return [];
    const internal = specifier.startsWith('.');
    return {
      line: lineAt(file, node.start),
      target: internal ? posix.join(posix.dirname(file.path), specifier) : specifier,
      internal,
      typeOnly: isTypeOnly(node),
      names: namesIn(node),
    };
  });
}

function isTypeOnly(node: SyntaxNode): boolean {
  if (node.type === 'TSImportType' || node.importKind === 'type' || node.exportKind === 'type') return true;
  const parts = children(node, 'specifiers');
  return parts.length > 0 && parts.every((part) => part.importKind === 'type' || part.exportKind === 'type');
}

function namesIn(node: SyntaxNode): string[] {
  if (node.type === 'ExportAllDeclaration') return ['*'];
  return children(node, 'specifiers').map((part) => {
    if (part.type === 'ImportDefaultSpecifier') return 'default';
    if (part.type === 'ImportNamespaceSpecifier') return '*';
    return nameOf(child(part, part.type === 'ImportSpecifier' ? 'imported' : 'local')) ?? '*';
  });
}

/** The package that a specifier belongs to: `@scope/name/sub` → `@scope/name`. */
export function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

export type ImportGraph = ReadonlyMap<string, ReadonlySet<string>>;

/** Who imports whom, packages included. */
export function importGraph(files: readonly SourceFile[], edges: 'all' | 'values'): ImportGraph {
  return new Map(
    files.map((file) => [
      file.path,
      new Set(
        importsOf(file)
          .filter((one) => edges === 'all' || !one.typeOnly)
          .map((one) => one.target),
      ),
    ]),
  );
}

/** Everything that `start` imports, directly or through others. */
export function reachableFrom(graph: ImportGraph, start: string): Set<string> {
  const seen = new Set<string>();
  const pending = [start];
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    for (const next of graph.get(path) ?? []) {
      if (seen.has(next)) continue;
      seen.add(next);
      pending.push(next);
    }
  }
  return seen;
}

/** The modules that import themselves through others, each as the sorted members of its cycle. */
export function cyclesIn(graph: ImportGraph): string[][] {
  const reach = new Map([...graph.keys()].map((path) => [path, reachableFrom(graph, path)]));
  const cycles = new Map<string, string[]>();
  for (const [path, reached] of reach) {
    if (!reached.has(path)) continue;
    const members = [...reached].filter((other) => reach.get(other)?.has(path)).sort();
    cycles.set(members.join(), members);
  }
  return [...cycles.values()];
}

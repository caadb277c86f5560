import { parseSync } from 'vite';
import type { SourceFile } from './project.ts';

/**
 * One node of the ESTree that oxc (vite's parser) makes of TypeScript, types included. Rules ask for few shapes, so the
 * fields are read by name instead of through some hundred node types.
 */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

export interface Syntax {
  /** All nodes, parents before children. */
  readonly nodes: readonly SyntaxNode[];
  readonly parents: ReadonlyMap<SyntaxNode, SyntaxNode>;
  /** Set when the file does not parse; `nodes` is empty then. */
  readonly problem?: string;
}

const parsed = new WeakMap<SourceFile, Syntax>();

export function syntaxOf(file: SourceFile): Syntax {
  let syntax = parsed.get(file);
  if (syntax === undefined) {
    syntax = parse(file);
    parsed.set(file, syntax);
  }
  return syntax;
}

function parse(file: SourceFile): Syntax {
  const { program, errors } = parseSync(file.path, file.text);
  const first = errors[0];
  if (first !== undefined) return { nodes: [], parents: new Map(), problem: first.message };
  const nodes: SyntaxNode[] = [];
  const parents = new Map<SyntaxNode, SyntaxNode>();
  const visit = (node: SyntaxNode): void => {
    nodes.push(node);
    for (const child of childrenOf(node)) {
      parents.set(child, node);
      visit(child);
    }
  };
  visit(program as unknown as SyntaxNode);
  return { nodes, parents };
}

function childrenOf(node: SyntaxNode): SyntaxNode[] {
  return Object.values(node).flat().filter(isNode);
}

export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && typeof (value as SyntaxNode).type === 'string';
}

export function nodesOfType(file: SourceFile, ...types: readonly string[]): SyntaxNode[] {
  return syntaxOf(file).nodes.filter((node) => types.includes(node.type));
}

export function parentOf(file: SourceFile, node: SyntaxNode): SyntaxNode | undefined {
  return syntaxOf(file).parents.get(node);
}

/** 1-based line of an offset. */
export function lineAt(file: SourceFile, offset: number): number {
  return file.text.slice(0, offset).split('\n').length;
}

/** Child node under `field`, or undefined. */
export function child(node: SyntaxNode, field: string): SyntaxNode | undefined {
  const value = node[field];
  return isNode(value) ? value : undefined;
}

export function children(node: SyntaxNode, field: string): SyntaxNode[] {
  const value = node[field];
  return Array.isArray(value) ? value.filter(isNode) : [];
}

/** The name of an identifier, or the text of a string literal: what a property, an import or a callee is called. */
export function nameOf(node: SyntaxNode | undefined): string | undefined {
  if (node?.type === 'Identifier') return String(node.name);
  if (node?.type === 'Literal' && typeof node.value === 'string') return node.value;
  return undefined;
}

/** `a.b` and `a['b']` → `['a', 'b']`; undefined for the object part when it is not a plain name. */
export function memberOf(node: SyntaxNode): { object: string | undefined; property: string | undefined } | undefined {
  if (node.type !== 'MemberExpression') return undefined;
  const property = child(node, 'property');
  const computedName = node.computed === true && property?.type === 'Identifier';
  return { object: nameOf(child(node, 'object')), property: computedName ? undefined : nameOf(property) };
}

/** The constant texts in a file: string literals and the fixed parts of templates. */
export function textsOf(file: SourceFile): { text: string; node: SyntaxNode }[] {
  return nodesOfType(file, 'Literal', 'TemplateElement').flatMap((node) => {
    const value = node.type === 'Literal' ? node.value : (node.value as { cooked?: string }).cooked;
    return typeof value === 'string' ? [{ text: value, node }] : [];
  });
}

export const functionTypes = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'] as const;

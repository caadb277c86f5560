/**
 * One spelling per value (K8): object keys sorted, nothing undefined. Digests and comparisons use it, because the key
 * order of a parallel state value follows the order of transitions.
 */
import { hash } from 'node:crypto';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** Throws TypeError for what JSON cannot hold: a number that is not finite, a function, a bigint, a Date, a Map. */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new TypeError(`${value} has no JSON form`);
    return JSON.stringify(value);
  }
  if (Array.isArray(value))
    return `[${value.map((item) => (item === undefined ? 'null' : canonicalJson(item))).join(',')}]`;
  if (typeof value === 'object' && isPlain(value)) return canonicalFields(value as Record<string, unknown>);
  throw new TypeError(`a ${typeof value === 'object' ? value.constructor.name : typeof value} has no JSON form`);
}

/** Every event and every identity is spelt, so the text is put together as it comes, without a list of its parts. */
function canonicalFields(fields: Record<string, unknown>): string {
  let text = '{';
  for (const key of Object.keys(fields).sort()) {
    const value = fields[key];
    if (value === undefined) continue;
    if (text.length > 1) text += ',';
    text += `${quoted(key)}:${canonicalJson(value)}`;
  }
  return `${text}}`;
}

/** What JSON writes as it is: printable ASCII without quotation mark and backslash. */
const literal = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

const quoted = (text: string): string => (literal.test(text) ? `"${text}"` : JSON.stringify(text));

/** Anything else would be spelt by its fields and lose what it is: a Date has none at all. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
}

/** Lowercase hex SHA-256 of UTF-8 text. */
export const sha256 = (text: string): string => hash('sha256', text, 'hex');

export const canonicalDigest = (value: unknown): string => sha256(canonicalJson(value));

/** Whether two JSON values are the same, whatever the order of their keys; an undefined field is no field. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [left, right] = [a, b] as [Record<string, unknown>, Record<string, unknown>];
  for (const key of Object.keys(left)) if (!sameJson(left[key], right[key])) return false;
  for (const key of Object.keys(right)) if (right[key] !== undefined && left[key] === undefined) return false;
  return true;
}

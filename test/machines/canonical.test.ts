import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalDigest, canonicalJson, sameJson, sha256 } from '../../machines/canonical.ts';

const json = fc.jsonValue();

describe('the one spelling of a value (K8)', () => {
  it('is JSON, and says the same again after having been read', () => {
    fc.assert(
      fc.property(json, (value) => {
        const text = canonicalJson(value);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalJson(JSON.parse(text))).toBe(text);
      }),
    );
  });

  it('does not depend on the order in which fields were set', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), json, { noNullPrototype: true }), (fields) => {
        const reversed = Object.fromEntries(Object.entries(fields).reverse());
        expect(canonicalJson(reversed)).toBe(canonicalJson(fields));
        expect(canonicalDigest(reversed)).toBe(canonicalDigest(fields));
      }),
    );
  });

  it('leaves out what is undefined in an object and keeps its place in a list', () => {
    expect(canonicalJson({ b: 1, a: undefined })).toBe('{"b":1}');
    expect(canonicalJson([1, undefined])).toBe('[1,null]');
    expect(canonicalJson(Object.assign(Object.create(null), { b: 1, a: 2 }))).toBe('{"a":2,"b":1}');
  });

  it.each<readonly [string, unknown]>([
    ['NaN', Number.NaN],
    ['an endless number', Number.POSITIVE_INFINITY],
    ['nothing at all', undefined],
    ['a function', () => {}],
    ['a bigint', 1n],
    ['a symbol', Symbol('x')],
    ['a Date', new Date(0)],
    ['a Map', new Map()],
    ['an Error', new Error('x')],
  ])('is refused for %s, also deep inside', (_, value) => {
    expect(() => canonicalJson(value)).toThrow(TypeError);
    if (value !== undefined) expect(() => canonicalJson({ a: [{ b: value }] })).toThrow(TypeError);
  });

  it('is digested as UTF-8', () => {
    expect(sha256('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    expect(canonicalDigest('ä')).toBe(sha256('"ä"'));
  });
});

describe('sameness (K3)', () => {
  it('is the same as one spelling', () => {
    const near = fc.tuple(json, json).chain(([a, b]) => fc.constantFrom([a, b], [a, JSON.parse(JSON.stringify(a))]));
    fc.assert(
      fc.property(near, ([a, b]) => {
        expect(sameJson(a, b)).toBe(canonicalJson(a) === canonicalJson(b));
      }),
      { numRuns: 1_000 },
    );
  });

  it('sees a field that was added, dropped, emptied or moved into a list', () => {
    expect(sameJson({ a: 1 }, { a: 1, b: null })).toBe(false);
    expect(sameJson({ a: 1, b: undefined }, { a: 1 })).toBe(true);
    expect(sameJson([1], [1, 2])).toBe(false);
    expect(sameJson([1, 2], [1])).toBe(false);
    expect(sameJson({ 0: 1 }, [1])).toBe(false);
    expect(sameJson(null, {})).toBe(false);
  });
});

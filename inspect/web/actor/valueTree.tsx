/** A value of JSON, unfolded as far as it is short. Everything in it is text. */
import { visible } from '../text/visible.ts';

interface ValueTreeProps {
  readonly value: unknown;
  /** Names of top-level fields that are pointed out. */
  readonly marked?: ReadonlySet<string>;
  readonly depth?: number;
}

/** Entries up to which an object below the first level is open from the start. */
const openUpTo = 6;

export function ValueTree({ value, marked, depth = 0 }: ValueTreeProps) {
  if (typeof value !== 'object' || value === null) return <Scalar value={value} />;
  const entries = Object.entries(value);
  if (entries.length === 0) return <span class="faint mono">{Array.isArray(value) ? '[ ]' : '{ }'}</span>;
  const list = (
    <dl class="tree">
      {entries.map(([key, inner]) => (
        <div key={key} class={marked?.has(key) ? 'marked' : undefined}>
          <dt class="mono">
            {visible(key)}
            {marked?.has(key) && <span class="hidden"> (changed)</span>}
          </dt>
          <dd>
            <ValueTree value={inner} depth={depth + 1} />
          </dd>
        </div>
      ))}
    </dl>
  );
  if (depth === 0) return list;
  return (
    <details open={entries.length <= openUpTo}>
      <summary class="mono faint">
        {Array.isArray(value) ? `${entries.length} items` : `${entries.length} fields`}
      </summary>
      {list}
    </details>
  );
}

export function Scalar({ value }: { readonly value: unknown }) {
  if (value === undefined) return <span class="faint">not there</span>;
  if (typeof value === 'string') return <span class="mono text">{value === '' ? '""' : visible(value)}</span>;
  return <span class="mono literal">{String(value)}</span>;
}

/**
 * A list of any length of which only what can be seen is in the document. Every row has the same height, so the position of
 * a row is a product and scrolling costs what a screen costs.
 */
import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Rows beyond each edge that are drawn already: what a flick shows before the next frame. */
const margin = 6;

export interface VirtualListProps {
  readonly label: string;
  readonly count: number;
  /** CSS pixels. */
  readonly rowHeight: number;
  /** Index of the row that is selected; -1 for none. It is kept in sight when it changes. */
  readonly selected: number;
  readonly idOf: (index: number) => string;
  readonly row: (index: number) => ComponentChildren;
  readonly class?: string;
  /** Stays in sight at the top and moves sideways with the rows. */
  readonly head?: ComponentChildren;
  /** Least width of the rows, CSS pixels, where they are wider than the list may be. */
  readonly width?: number;
  /** Stay at the end while rows are added there. */
  readonly followEnd?: boolean;
}

export function VirtualList(props: VirtualListProps) {
  const { label, count, rowHeight, selected, idOf, row } = props;
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(0);
  useLayoutEffect(() => {
    const element = box.current!;
    setHeight(element.clientHeight);
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (selected >= 0) reveal(box.current!, selected * rowHeight, rowHeight);
  }, [selected, rowHeight]);
  useLayoutEffect(() => {
    if (props.followEnd) box.current!.scrollTop = count * rowHeight;
  }, [props.followEnd, count, rowHeight]);
  const scrolled = useCallback(() => setTop(box.current!.scrollTop), []);
  const first = Math.max(0, Math.floor(top / rowHeight) - margin);
  const last = Math.min(count, Math.ceil((top + height) / rowHeight) + margin);
  const indexes = Array.from({ length: Math.max(0, last - first) }, (_, offset) => first + offset);
  const active = indexes.includes(selected) ? idOf(selected) : undefined;
  return (
    <div
      ref={box}
      class={`virtual ${props.class ?? ''}`}
      role="grid"
      aria-label={label}
      aria-rowcount={count}
      aria-activedescendant={active}
      tabIndex={0}
      onScroll={scrolled}
    >
      {props.head}
      <div
        class="virtual-all"
        role="presentation"
        style={{ height: `${count * rowHeight}px`, minWidth: props.width === undefined ? '' : `${props.width}px` }}
      >
        <div class="virtual-seen" role="presentation" style={{ transform: `translateY(${first * rowHeight}px)` }}>
          {indexes.map(row)}
        </div>
      </div>
    </div>
  );
}

/** The smallest movement after which the row is wholly in sight. */
function reveal(box: HTMLElement, rowTop: number, rowHeight: number): void {
  if (rowTop < box.scrollTop) box.scrollTop = rowTop;
  else if (rowTop + rowHeight > box.scrollTop + box.clientHeight) box.scrollTop = rowTop + rowHeight - box.clientHeight;
}

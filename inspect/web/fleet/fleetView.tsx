/** Everything at a glance: what needs somebody first, and every actor one search away. */
import { computed, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { edition, keyOf, progress, rows } from '../data/fleet.ts';
import { narrow } from '../list/narrow.ts';
import { VirtualList } from '../list/virtualList.tsx';
import { bind, type KeyBinding, useKeys } from '../shell/keyboard.ts';
import { Empty } from '../shell/notice.tsx';
import { amend, go, route, view } from '../shell/route.ts';
import { FilterBar, searchField } from './filterBar.tsx';
import { FleetRow } from './fleetRow.tsx';
import { Glance } from './glance.tsx';
import { selectRows, type Wanted } from './selection.ts';

const wanted = computed<Wanted>(() => {
  const {
    q = '',
    kind = '',
    tone = '',
    sort = 'attention',
    internal,
  } = view.value === 'fleet' ? route.value.query : {};
  return { text: q, kind, tone, sort, internal: internal === '1' };
});

const shown = computed(() => {
  void edition.value;
  return selectRows(rows(), wanted.value);
});

/** By its key and not by its place: a row keeps being selected when others come and go. */
const selectedKey = signal<string | undefined>(undefined);
const selected = computed(() => shown.value.findIndex(({ row }) => keyOf(row) === selectedKey.value));

const rowHeight = { wide: 32, narrow: 56 };

export function FleetView() {
  useKeys(fleetKeys);
  const found = shown.value;
  useEffect(() => {
    performance.mark('custody:fleet-drawn');
  }, []);
  const list = useMemo(
    () => ({
      idOf: (index: number) => `row-${shown.peek()[index] === undefined ? index : keyOf(shown.peek()[index]!.row)}`,
    }),
    [],
  );
  return (
    <div class="fleet">
      <h1 class="hidden">Fleet</h1>
      <Glance />
      <section class="fleet-list" aria-label="Actors">
        <FilterBar wanted={wanted.value} found={found.length} />
        {found.length === 0 ? (
          <Nothing />
        ) : (
          <VirtualList
            class="fleet-rows"
            label="Actors; j and k move, Enter opens"
            count={found.length}
            rowHeight={narrow.value ? rowHeight.narrow : rowHeight.wide}
            selected={selected.value}
            idOf={list.idOf}
            row={(index) => {
              const one = found[index]!;
              const key = keyOf(one.row);
              return (
                <FleetRow key={key} judged={one} index={index} selected={index === selected.value} select={select} />
              );
            }}
          />
        )}
      </section>
    </div>
  );
}

function Nothing() {
  if (progress.value !== 'complete') return <Empty title="The server is still reading them in." />;
  if (rows().length === 0)
    return (
      <Empty title="Nothing has been done here yet.">
        <p>
          Begin with <code>custody goals add</code>.
        </p>
      </Empty>
    );
  return (
    <Empty title="No actor is like that.">
      <button type="button" onClick={clear}>
        Clear search and filters
      </button>
    </Empty>
  );
}

function select(key: string): void {
  selectedKey.value = key;
}

function clear(): void {
  amend({ q: undefined, kind: undefined, tone: undefined });
}

function move(to: (index: number) => number): undefined {
  const all = shown.peek();
  const index = Math.min(all.length - 1, Math.max(0, to(selected.peek())));
  const next = all[index];
  if (next !== undefined) selectedKey.value = keyOf(next.row);
}

const page = 15;

const fleetKeys: readonly KeyBinding[] = [
  bind(['/'], 'search', () => {
    searchField.current?.focus();
    searchField.current?.select();
  }),
  { keys: ['j', 'ArrowDown'], does: 'next row', run: () => move((index) => index + 1) },
  { keys: ['k', 'ArrowUp'], does: 'row before', run: () => move((index) => index - 1) },
  { keys: ['PageDown'], does: '', run: () => move((index) => index + page) },
  { keys: ['PageUp'], does: '', run: () => move((index) => index - page) },
  { keys: ['Home'], does: '', run: () => move(() => 0) },
  { keys: ['End'], does: '', run: () => move(() => Number.MAX_SAFE_INTEGER) },
  {
    keys: ['Enter', 'o'],
    does: 'open the row',
    run: () => {
      const one = shown.peek()[selected.peek()];
      if (one === undefined) return true;
      go(['actor', one.row.kind, one.row.id]);
      return undefined;
    },
  },
  bind(['Escape'], 'leave the search, then clear it', () => {
    const field = searchField.current;
    if (field !== null && document.activeElement === field) field.blur();
    else clear();
  }),
];

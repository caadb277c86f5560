/**
 * Keys of the whole page and of the view that is open. A view says what its keys do while it is mounted; `g` waits for a
 * second key. Keys that somebody types into a field are that field's, except Escape.
 */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

export interface KeyBinding {
  /** As `KeyboardEvent.key` has it; `g f` for two keys one after the other. */
  readonly keys: readonly string[];
  readonly does: string;
  /** True when the key shall go on to whom it was meant for. */
  run(event: KeyboardEvent): boolean | undefined;
}

/** For what always takes its key. */
export const bind = (keys: readonly string[], does: string, act: () => void): KeyBinding => ({
  keys,
  does,
  run: () => {
    act();
    return undefined;
  },
});

/** Newest first: what opened last is asked first. */
const scopes = signal<readonly (readonly KeyBinding[])[]>([]);

export const bindings = scopes;

export function useKeys(keys: readonly KeyBinding[]): void {
  useEffect(() => {
    scopes.value = [keys, ...scopes.peek()];
    return () => {
      scopes.value = scopes.peek().filter((other) => other !== keys);
    };
  }, [keys]);
}

let prefix = '';

function isField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && target.matches('input:not([type=range]), textarea, select, [contenteditable]')
  );
}

/** Buttons and links take Enter and Space themselves. */
function activates(event: KeyboardEvent): boolean {
  const acts = event.key === 'Enter' || event.key === ' ';
  return acts && event.target instanceof Element && event.target.closest('button, a, summary, [role=tab]') !== null;
}

function pressed(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  // A dialog keeps its keys to itself, the one that closes it included.
  if (document.querySelector('dialog[open]') !== null) return;
  if (isField(event.target) && event.key !== 'Escape') return;
  if (activates(event)) return;
  const typed = prefix === '' ? event.key : `${prefix} ${event.key}`;
  prefix = '';
  const all = scopes.peek().flat();
  for (const binding of all.filter(({ keys }) => keys.includes(typed))) {
    if (binding.run(event) === true) continue;
    event.preventDefault();
    return;
  }
  if (all.some(({ keys }) => keys.some((one) => one.startsWith(`${typed} `)))) {
    prefix = typed;
    event.preventDefault();
  }
}

addEventListener('keydown', pressed);

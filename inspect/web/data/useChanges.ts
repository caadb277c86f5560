/** Calls back when one of some actors was changed by a commit, and when everything had to be read anew. */
import { effect } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { edition, lastChanged } from './fleet.ts';

type Concerns = (key: string) => boolean;

/** `of`: keys of actors, or which they are; undefined for every change. Functions have to stay the same. */
export function useChanges(of: readonly string[] | Concerns | undefined, changed: () => void): void {
  const which = typeof of === 'function' ? of : of?.join(' ');
  useEffect(() => {
    let first = true;
    return effect(() => {
      void edition.value;
      const recent = lastChanged.value;
      const concerns =
        which === undefined ||
        (typeof which === 'string' ? which.split(' ').some((key) => recent.has(key)) : [...recent].some(which));
      if (!first && concerns) changed();
      first = false;
    });
  }, [which, changed]);
}

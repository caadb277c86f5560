/** Calls back when one of some actors was changed by a commit, and when everything had to be read anew. */
import { effect } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { edition, lastChanged } from './fleet.ts';

/** `keys`: what is waited for; undefined for every change. `changed` has to stay the same function. */
export function useChanges(keys: readonly string[] | undefined, changed: () => void): void {
  const joined = keys?.join(' ');
  useEffect(() => {
    let first = true;
    return effect(() => {
      void edition.value;
      const recent = lastChanged.value;
      const concerns = joined === undefined || joined.split(' ').some((key) => recent.has(key));
      if (!first && concerns) changed();
      first = false;
    });
  }, [joined, changed]);
}

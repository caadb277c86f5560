/**
 * Objects that exist as long as somebody uses them: held weakly, except the most recent ones and those that are pinned
 * because somebody listens to them without keeping a reference. An idle actor costs a row, not memory.
 */
export interface WeakCache<V extends object> {
  get(key: string): V | undefined;
  set(key: string, value: V): void;
  delete(key: string): void;
  /** Keeps the value until the returned function is called; calls count. */
  pin(key: string, value: V): () => void;
}

export function createWeakCache<V extends object>(recentLimit: number): WeakCache<V> {
  const known = new Map<string, WeakRef<V>>();
  const recent = new Map<string, V>();
  const pinned = new Map<symbol, V>();
  const forgotten = new FinalizationRegistry<string>((key) => {
    if (known.get(key)?.deref() === undefined) known.delete(key);
  });

  function touch(key: string, value: V): void {
    recent.delete(key);
    recent.set(key, value);
    if (recent.size <= recentLimit) return;
    for (const oldest of recent.keys()) {
      recent.delete(oldest);
      break;
    }
  }

  return {
    get(key) {
      const value = known.get(key)?.deref();
      if (value !== undefined) touch(key, value);
      return value;
    },
    set(key, value) {
      known.set(key, new WeakRef(value));
      forgotten.register(value, key);
      touch(key, value);
    },
    delete(key) {
      known.delete(key);
      recent.delete(key);
    },
    pin(key, value) {
      const pin = Symbol(key);
      pinned.set(pin, value);
      return () => void pinned.delete(pin);
    },
  };
}

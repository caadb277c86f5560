/** One answer that a view needs: asked for anew whenever its path changes, kept on screen until the next one is there. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { ask } from './server.ts';

export interface Resource<T> {
  readonly data: T | undefined;
  readonly error: Error | undefined;
  readonly loading: boolean;
  /** Asks again; calls that come while an answer is under way become one further question. */
  readonly reload: () => void;
}

interface Held<T> {
  readonly path: string | undefined;
  readonly data: T | undefined;
  readonly error: Error | undefined;
}

/** `restMs`: least time between an answer and the next question of the same path. */
export function useResource<T>(path: string | undefined, { restMs = 0 } = {}): Resource<T> {
  const [held, setHeld] = useState<Held<T>>({ path: undefined, data: undefined, error: undefined });
  const again = useRef<() => void>(() => {});
  useEffect(() => {
    if (path === undefined) return undefined;
    const stop = new AbortController();
    let running = false;
    let wanted = false;
    const load = async () => {
      if (running) {
        wanted = true;
        return;
      }
      running = true;
      do {
        wanted = false;
        try {
          const data = await ask<T>(path, { signal: stop.signal });
          if (!stop.signal.aborted) setHeld({ path, data, error: undefined });
        } catch (error) {
          if (stop.signal.aborted) return;
          setHeld((before) => ({ path, data: before.path === path ? before.data : undefined, error: error as Error }));
        }
        if (restMs > 0) await new Promise((resolve) => setTimeout(resolve, restMs));
      } while (wanted && !stop.signal.aborted);
      running = false;
    };
    again.current = () => void load();
    void load();
    return () => stop.abort();
  }, [path, restMs]);
  const reload = useCallback(() => again.current(), []);
  const current = held.path === path;
  return {
    data: current ? held.data : undefined,
    error: current ? held.error : undefined,
    loading: path !== undefined && !current,
    reload,
  };
}

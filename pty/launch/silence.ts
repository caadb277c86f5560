/**
 * Tells that nothing came within `ms`; the answer calls it off. A process that was held up itself finds its timers due
 * before it has read what came meanwhile (timers precede sockets in each turn of the event loop), so it reads first:
 * its own sleep is nobody else's silence.
 */
export function afterSilence(ms: number, tell: () => void): () => void {
  let turn: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    turn = setImmediate(tell);
  }, ms);
  return () => {
    clearTimeout(timer);
    clearImmediate(turn);
  };
}

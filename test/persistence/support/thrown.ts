/** What `work` throws, for looking at more than its message. */
export function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (thrown) {
    return thrown;
  }
  throw new Error('nothing was thrown');
}

/** The fields that every refusal of the store has to carry. */
export function refusal(work: () => unknown): { code: unknown; exitCode: unknown; next: unknown } {
  const { code, exitCode, next } = thrownBy(work) as { code: unknown; exitCode: unknown; next: unknown };
  return { code, exitCode, next };
}

/** The same of what a promise is rejected with. */
export async function rejection(work: Promise<unknown>): Promise<{ code: unknown; exitCode: unknown; next: unknown }> {
  const thrown = await work.then(
    () => new Error('nothing was thrown'),
    (reason: unknown) => reason,
  );
  return refusal(() => {
    throw thrown;
  });
}

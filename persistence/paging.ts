/** Every list is paged, so that no answer grows with the age of the installation. */
export interface Page {
  /** Exclusive cursor: the key or position of the last row already seen. */
  readonly after?: number;
  readonly limit?: number;
  /** Newest first; `after` then means "older than". */
  readonly newestFirst?: boolean;
}

export const defaultLimit = 100;
export const largestLimit = 1_000;

export function limitOf(page: Page): number {
  return Math.max(1, Math.min(page.limit ?? defaultLimit, largestLimit));
}

/** SQL comparison, order and starting cursor for an integer key in the asked direction. */
export function direction(page: Page): {
  readonly compare: '<' | '>';
  readonly order: 'DESC' | 'ASC';
  readonly after: number;
} {
  return page.newestFirst
    ? { compare: '<', order: 'DESC', after: page.after ?? Number.MAX_SAFE_INTEGER }
    : { compare: '>', order: 'ASC', after: page.after ?? 0 };
}

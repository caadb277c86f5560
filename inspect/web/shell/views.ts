/** The views that the page has, in the order of its navigation. */

export interface ViewEntry {
  /** First part of the place. */
  readonly name: string;
  readonly label: string;
  /** Second key after `g`. */
  readonly key: string;
}

export const views: readonly ViewEntry[] = [
  { name: 'fleet', label: 'Fleet', key: 'f' },
  { name: 'sequence', label: 'Sequence', key: 's' },
  { name: 'processes', label: 'Processes', key: 'p' },
  { name: 'terminal', label: 'Terminals', key: 't' },
  { name: 'timeline', label: 'Timeline', key: 'l' },
  { name: 'metrics', label: 'Metrics', key: 'm' },
];

/** The part of the navigation that a view belongs to: an actor is opened from the fleet. */
export const navigationOf = (view: string): string => (view === 'actor' ? 'fleet' : view);

/** The places of everything that is drawn of a chart. */
import type { Chart } from './chart.ts';
import type { Role } from './label.ts';

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Box extends Point {
  readonly width: number;
  readonly height: number;
}

/** Lines of text with the part that each has in it; one role and one width for each line. */
export interface PlacedLabel extends Box {
  readonly lines: readonly string[];
  readonly roles: readonly Role[];
  /** px that each line was measured with: whoever draws it in another font has to fit it in. */
  readonly widths: readonly number[];
}

export interface PlacedTransition {
  readonly id: string;
  /** From the border of the source to the border of the target; none for one that is written inside of its state. */
  readonly points: readonly Point[];
  /** From where the line forks to each target, where there are several. */
  readonly branches: readonly (readonly Point[])[];
  readonly fork: Box | null;
  readonly label: PlacedLabel | null;
}

/** The dot from which a compound state is begun, or a history state while it remembers nothing. */
export interface PlacedInitial {
  readonly target: string;
  /** Middle of the dot; null where it is a history state that leads there. */
  readonly dot: Point | null;
  readonly points: readonly Point[];
}

/** px from the upper left corner. */
export interface PlacedChart {
  readonly chart: Chart;
  readonly width: number;
  readonly height: number;
  readonly states: Readonly<Record<string, Box>>;
  /** Name, tags, entry and exit actions of each state that shows them. */
  readonly headings: Readonly<Record<string, PlacedLabel>>;
  readonly initials: readonly PlacedInitial[];
  readonly transitions: readonly PlacedTransition[];
}

/** Lines of a drawing: rounded where they turn, and with a head that ends exactly where the line does. */
import type { Point } from './placed.ts';
import { element, round } from './xml.ts';

const corner = 6;
const headLength = 8;
const headWidth = 3.5;

const towards = (from: Point, to: Point, by: number): Point => {
  const length = Math.hypot(to.x - from.x, to.y - from.y);
  if (length === 0) return from;
  const share = Math.min(by, length) / length;
  return { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share };
};

const at = ({ x, y }: Point): string => `${round(x)} ${round(y)}`;

const between = (one: Point, other: Point): number => Math.hypot(other.x - one.x, other.y - one.y);

export function pathOf(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (first === undefined) return '';
  const steps = rest.map((point, index) => {
    const before = points[index] as Point;
    const after = rest[index + 1];
    if (after === undefined) return `L${at(point)}`;
    const by = Math.min(corner, between(before, point) / 2, between(point, after) / 2);
    return `L${at(towards(point, before, by))}Q${at(point)} ${at(towards(point, after, by))}`;
  });
  return `M${at(first)}${steps.join('')}`;
}

/** The head of the arrow at the end of a line. */
export function headOf(points: readonly Point[]): string {
  const tip = points.at(-1);
  const before = points.findLast((point) => tip !== undefined && between(point, tip) > 0);
  if (tip === undefined || before === undefined) return '';
  const back = towards(tip, before, headLength);
  const [dx, dy] = [(tip.x - before.x) / between(before, tip), (tip.y - before.y) / between(before, tip)];
  const side = (by: number): Point => ({ x: back.x - dy * by, y: back.y + dx * by });
  return element('path', { class: 'head', d: `M${at(tip)}L${at(side(headWidth))}L${at(side(-headWidth))}Z` });
}

export const lineOf = (points: readonly Point[], name = 'line'): string =>
  element('path', { class: name, d: pathOf(points) });

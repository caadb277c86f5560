/**
 * Moving about in a drawing with pointer, wheel, fingers and keys. The place is written to the drawing directly: nothing
 * else of the page changes while somebody looks around.
 */
import type { Box } from './placedChart.ts';

interface Place {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

const least = 0.1;
const most = 3;
/** The smallest letters of a chart, px, and what they have to be on the screen to be read. */
const smallestLetters = 10;
const leastLetters = 9;
const readable = leastLetters / smallestLetters;
/** px left free around a drawing. */
const margin = 8;
const step = 1.25;
/** px of the screen for one key. */
const keyPan = 60;

/** What somebody looks for in a drawing: at least one box, the one that counts most first. */
type Focus = readonly Box[];

export class PanZoom {
  readonly #frame: SVGSVGElement;
  readonly #drawing: SVGGElement;
  #place: Place = { x: 0, y: 0, scale: 1 };
  readonly #pointers = new Map<number, { x: number; y: number }>();
  /** Somebody moved it: it is not fitted again by itself. */
  touched = false;

  constructor(frame: SVGSVGElement, drawing: SVGGElement) {
    this.#frame = frame;
    this.#drawing = drawing;
  }

  /** Returns what takes the listeners away. */
  listen(): () => void {
    const stop = new AbortController();
    const options = { signal: stop.signal };
    this.#frame.addEventListener('wheel', this.#wheel, { ...options, passive: false });
    this.#frame.addEventListener('pointerdown', this.#down, options);
    this.#frame.addEventListener('pointermove', this.#move, options);
    for (const name of ['pointerup', 'pointercancel'] as const) this.#frame.addEventListener(name, this.#up, options);
    this.#frame.addEventListener('keydown', this.#key, options);
    return () => stop.abort();
  }

  /** The whole box in sight, never larger than it was drawn. */
  fit({ x, y, width, height }: Box): void {
    const { clientWidth, clientHeight } = this.#frame;
    if (clientWidth === 0 || width === 0) return;
    const scale = Math.max(
      least,
      Math.min(1, (clientWidth - 2 * margin) / width, (clientHeight - 2 * margin) / height),
    );
    this.#set({
      scale,
      x: (clientWidth - width * scale) / 2 - x * scale,
      y: (clientHeight - height * scale) / 2 - y * scale,
    });
  }

  /** Whether the middle of the box is in sight at a scale at which it can be read. */
  shows({ x, y, width, height }: Box): boolean {
    const { x: left, y: top, scale } = this.#place;
    const at = { x: left + (x + width / 2) * scale, y: top + (y + height / 2) * scale };
    const { clientWidth, clientHeight } = this.#frame;
    return scale >= readable && at.x > 0 && at.y > 0 && at.x < clientWidth && at.y < clientHeight;
  }

  /** As wide as the frame where it can be read like that, else the part around `focus`. */
  adapt(whole: Box, focus: Focus): void {
    const { clientWidth } = this.#frame;
    if (this.touched || clientWidth === 0 || whole.width === 0) return;
    this.center(whole, focus, Math.max(readable, Math.min(1, (clientWidth - 2 * margin) / whole.width)));
  }

  /** Brings all of the focus into the middle where it has room, else the first of it; nothing is cut off for emptiness. */
  center(whole: Box, focus: Focus, scale: number): void {
    const { clientWidth: width, clientHeight: height } = this.#frame;
    const all = around(focus);
    const hasRoom = all.width * scale <= width && all.height * scale <= height;
    const { x, y, width: wide, height: high } = hasRoom ? all : (focus[0] ?? whole);
    this.#set({
      scale,
      x: beginning(width, whole.width * scale, (x + wide / 2) * scale),
      y: beginning(height, whole.height * scale, (y + high / 2) * scale),
    });
  }

  zoom(factor: number, at = { x: this.#frame.clientWidth / 2, y: this.#frame.clientHeight / 2 }): void {
    const { x, y, scale: before } = this.#place;
    const scale = Math.min(most, Math.max(least, before * factor));
    const ratio = scale / before;
    this.touched = true;
    this.#set({ scale, x: at.x - (at.x - x) * ratio, y: at.y - (at.y - y) * ratio });
  }

  readonly in = (): void => this.zoom(step);
  readonly out = (): void => this.zoom(1 / step);

  #set(place: Place): void {
    this.#place = place;
    this.#drawing.setAttribute('transform', `translate(${place.x} ${place.y}) scale(${place.scale})`);
  }

  #pan(dx: number, dy: number): void {
    const { x, y, scale } = this.#place;
    this.touched = true;
    this.#set({ scale, x: x + dx, y: y + dy });
  }

  #at({ clientX, clientY }: { readonly clientX: number; readonly clientY: number }) {
    const { left, top } = this.#frame.getBoundingClientRect();
    return { x: clientX - left, y: clientY - top };
  }

  readonly #wheel = (event: WheelEvent): void => {
    event.preventDefault();
    this.zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)), this.#at(event));
  };

  readonly #down = (event: PointerEvent): void => {
    this.#pointers.set(event.pointerId, this.#at(event));
    this.#frame.setPointerCapture(event.pointerId);
  };

  readonly #move = (event: PointerEvent): void => {
    const before = this.#pointers.get(event.pointerId);
    if (before === undefined) return;
    const now = this.#at(event);
    this.#pointers.set(event.pointerId, now);
    const other = [...this.#pointers].find(([id]) => id !== event.pointerId)?.[1];
    if (other === undefined) this.#pan(now.x - before.x, now.y - before.y);
    else this.zoom(distance(now, other) / Math.max(1, distance(before, other)), other);
  };

  readonly #up = (event: PointerEvent): void => {
    this.#pointers.delete(event.pointerId);
  };

  readonly #key = (event: KeyboardEvent): void => {
    const moves: Readonly<Record<string, () => void>> = {
      ArrowLeft: () => this.#pan(keyPan, 0),
      ArrowRight: () => this.#pan(-keyPan, 0),
      ArrowUp: () => this.#pan(0, keyPan),
      ArrowDown: () => this.#pan(0, -keyPan),
    };
    const move = moves[event.key];
    if (move === undefined || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    move();
  };
}

/** Where a drawing begins along one side of the frame: in the middle where it fits in, else around `middle` of it, without a gap. */
function beginning(room: number, length: number, middle: number): number {
  if (length <= room - 2 * margin) return (room - length) / 2;
  return Math.min(margin, Math.max(room - length - margin, room / 2 - middle));
}

function around(boxes: Focus): Box {
  const [x, y] = [Math.min(...boxes.map((box) => box.x)), Math.min(...boxes.map((box) => box.y))];
  const right = Math.max(...boxes.map((box) => box.x + box.width));
  const bottom = Math.max(...boxes.map((box) => box.y + box.height));
  return { x, y, width: right - x, height: bottom - y };
}

const distance = (a: { x: number; y: number }, b: { x: number; y: number }): number => Math.hypot(a.x - b.x, a.y - b.y);

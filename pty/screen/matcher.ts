/** Looks for something on a screen. A regular expression runs where it can be stopped: some take longer than a life. */
import { createContext, Script } from 'node:vm';
import type headless from '@xterm/headless';
import type { ScreenFailure, ScreenPattern } from './protocol.ts';

/** A fair expression needs microseconds for a screen; a loaded machine may stretch them. */
const maxMatchMs = 250;

export type Found =
  | { readonly text: string }
  | { readonly failure: ScreenFailure; readonly detail: string }
  | undefined;

const script = new Script('new RegExp(source, flags).exec(text)?.[0]');
const context = createContext({ source: '', flags: '', text: '' });

export function find(pattern: ScreenPattern, text: string): Found {
  if ('text' in pattern) return text.includes(pattern.text) ? { text: pattern.text } : undefined;
  try {
    Object.assign(context, { source: pattern.regex, flags: pattern.flags ?? '', text });
    const match: unknown = script.runInContext(context, { timeout: maxMatchMs });
    return typeof match === 'string' ? { text: match } : undefined;
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    const isSlow = code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
    return { failure: isSlow ? 'pattern_too_slow' : 'pattern_invalid', detail: message };
  } finally {
    Object.assign(context, { text: '' });
  }
}

/** What a screen shows, and what scrolled off it since the last look, so that a line that hurried by is seen too. */
export class Lookout {
  readonly #terminal: headless.Terminal;
  #top: headless.IMarker | undefined;

  constructor(terminal: headless.Terminal) {
    this.#terminal = terminal;
  }

  /** Rows as lines; a row that goes on in the next one makes one line with it. */
  text(): string {
    const { active } = this.#terminal.buffer;
    const isKnown = active.type === 'normal' && this.#top !== undefined && !this.#top.isDisposed;
    const from = isKnown ? Math.min(this.#top!.line, active.baseY) : active.baseY;
    const parts: string[] = [];
    for (let row = Math.max(0, from); row < active.length; row += 1) {
      const isContinued = active.getLine(row + 1)?.isWrapped === true;
      parts.push(active.getLine(row)?.translateToString(!isContinued) ?? '', isContinued ? '' : '\n');
    }
    this.#mark(active);
    return parts.join('');
  }

  dispose(): void {
    this.#top?.dispose();
  }

  #mark(active: headless.IBuffer): void {
    if (active.type !== 'normal') return;
    this.#top?.dispose();
    this.#top = this.#terminal.registerMarker(-active.cursorY);
  }
}

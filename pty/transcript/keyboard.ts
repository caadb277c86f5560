/**
 * How a program wants keys to be reported that say nothing by themselves, such as shift-enter: the stacks of flags of
 * kitty's keyboard protocol, one for each screen, and modifyOtherKeys of xterm (ctlseqs, XTMODKEYS). The emulator drops
 * both, but whoever is shown its screen types on a terminal that may know them.
 */
import type headless from '@xterm/headless';

/** As kitty has it: what is pushed on top of that pushes the oldest out. */
const deepest = 99;
const otherKeys = 4;

type Parameters = readonly (number | readonly number[])[];

export class Keyboard {
  readonly #terminal: headless.Terminal;
  /** From the bottom, which is there without having been pushed. */
  #stacks: { normal: readonly number[]; alternate: readonly number[] } = { normal: [0], alternate: [0] };
  #otherKeys = 0;

  constructor(terminal: headless.Terminal) {
    this.#terminal = terminal;
    const { parser } = terminal;
    const on = (prefix: string, final: string, take: (parameters: Parameters) => void) =>
      parser.registerCsiHandler({ prefix, final }, (parameters) => {
        take(parameters);
        return false;
      });
    on('>', 'u', ([flags]) => this.#change((stack) => [...stack, number(flags, 0)].slice(-deepest)));
    on('<', 'u', ([count]) => this.#change((stack) => popped(stack, number(count, 1) || 1)));
    on('=', 'u', ([flags, how]) => this.#change((stack) => changed(stack, number(flags, 0), number(how, 1))));
    on('>', 'm', ([which, value]) => this.#report(number(which, otherKeys), number(value, 0)));
    on('>', 'n', ([which]) => this.#report(number(which, 0), 0));
    parser.registerEscHandler({ final: 'c' }, () => {
      this.#stacks = { normal: [0], alternate: [0] };
      this.#otherKeys = 0;
      return false;
    });
  }

  /** What brings the keyboard of a screen there in a terminal that was just reset. */
  stack(screen: 'normal' | 'alternate'): string {
    const [bottom, ...pushed] = this.#stacks[screen];
    return `${bottom === 0 ? '' : `\x1b[=${bottom};1u`}${pushed.map((flags) => `\x1b[>${flags}u`).join('')}`;
  }

  get modifyOtherKeys(): string {
    return this.#otherKeys === 0 ? '' : `\x1b[>${otherKeys};${this.#otherKeys}m`;
  }

  /** What holds now, whatever held before it. */
  get current(): string {
    return `\x1b[=${this.#stack.at(-1)};1u\x1b[>${otherKeys};${this.#otherKeys}m`;
  }

  get isPlain(): boolean {
    return this.#stack.at(-1) === 0 && this.#otherKeys === 0;
  }

  get #stack(): readonly number[] {
    return this.#stacks[this.#terminal.buffer.active.type];
  }

  #change(change: (stack: readonly number[]) => readonly number[]): void {
    this.#stacks[this.#terminal.buffer.active.type] = change(this.#stack);
  }

  #report(which: number, value: number): void {
    if (which === otherKeys) this.#otherKeys = value;
  }
}

function number(parameter: Parameters[number] | undefined, otherwise: number): number {
  return typeof parameter === 'number' ? parameter : otherwise;
}

/** Without anything left, the terminal is as if nothing had ever been asked for. */
function popped(stack: readonly number[], count: number): readonly number[] {
  return count < stack.length ? stack.slice(0, -count) : [0];
}

/** 2 adds flags and 3 takes them away. */
function changed(stack: readonly number[], flags: number, how: number): readonly number[] {
  const now = stack.at(-1) as number;
  return [...stack.slice(0, -1), how === 2 ? now | flags : how === 3 ? now & ~flags : flags];
}

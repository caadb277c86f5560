/** Tells the story as it happens, on standard output; with --json and --quiet it says nothing. */
import type { AssessmentView } from '../../actors/daemon/api/views.ts';
import type { Output } from '../output.ts';
import { line, printable } from '../print/escape.ts';
import { type Paint, plain, type Style } from '../print/style.ts';
import { assessment } from '../print/words.ts';
import { wrapped } from '../print/wrap.ts';
import type { Scratch } from './scratch.ts';

const indent = '   ';
const labelWidth = 9;
/** Wider lines are hard to read; a pipe gets its lines whole, because programs read by lines. */
const widest = 110;

interface Hanging {
  readonly mark: string;
  /** Width of the mark. */
  readonly columns: number;
  readonly paint?: Paint;
}

export class Narrator {
  readonly #output: Output;
  readonly #scratch: Scratch;
  #chapters = 0;

  constructor(output: Output, scratch: Scratch) {
    this.#output = output;
    this.#scratch = scratch;
  }

  get style(): Style {
    return this.#output.style;
  }

  /** A numbered heading, and what a newcomer should know for what follows. */
  chapter(title: string, about: string): void {
    this.#chapters += 1;
    this.heading(`${this.#chapters}  ${title}`);
    this.#hang({ mark: '', columns: 0, paint: this.style.dim }, about);
  }

  heading(title: string): void {
    this.#say('');
    this.#say(this.style.bold(printable(title)));
  }

  /** What somebody would type to do the same; done here by the same calls. */
  command(...words: readonly string[]): void {
    this.typed(words.map((word) => this.#word(word)).join(' '));
  }

  /** A line for a shell that is printable already. */
  typed(text: string): void {
    this.#say(`${indent}${this.style.dim('$')} ${text}`);
  }

  fact(label: string, text: string, paint: Paint = this.style.dim): void {
    this.#hang({ mark: `${paint(printable(label).padEnd(labelWidth))}  `, columns: labelWidth + 2 }, text);
  }

  good(label: string, text: string): void {
    this.fact(label, text, this.style.green);
  }

  warning(label: string, text: string): void {
    this.fact(label, text, this.style.yellow);
  }

  /** A line that a workload wrote. */
  quote(text: string): void {
    this.#hang({ mark: `${this.style.dim('│')} `, columns: 2 }, text);
  }

  bullet(text: string): void {
    this.#hang({ mark: '- ', columns: 2 }, text);
  }

  /** Lines that a printer of the command line made; they are printable already. */
  lines(lines: readonly string[]): void {
    for (const text of lines) this.#say(`${indent}${text}`);
  }

  /** On a terminal, what is being waited for. */
  waiting(text: string): void {
    this.#output.status(text);
  }

  /** The first line after `mark`, the others below its first word. */
  #hang({ mark, columns: at, paint = (same) => same }: Hanging, text: string): void {
    const { isTTY, columns } = process.stdout;
    const width = isTTY ? Math.min(columns ?? widest, widest) - indent.length - at : Number.POSITIVE_INFINITY;
    const [first = '', ...rest] = wrapped(printable(text), { to: width });
    this.#say(`${indent}${mark}${paint(first)}`);
    for (const next of rest) this.#say(`${indent}${' '.repeat(at)}${paint(next)}`);
  }

  #say(text: string): void {
    if (this.#output.json || this.#output.quiet) return;
    this.#output.clearStatus();
    this.#output.text(text);
  }

  /** As a shell reads it, with the scratch directory as $D. */
  #word(word: string): string {
    const { dir } = this.#scratch;
    if (word.startsWith(`${dir}/`) && isPlain(word.slice(dir.length))) {
      const path = line`$D${word.slice(dir.length)}`;
      return isPlain(dir) ? path : `"${path}"`;
    }
    return quoted(word);
  }
}

const isPlain = (word: string): boolean => /^[\w@%+=:,./-]+$/.test(word);

/** One word of a shell's line. */
export const quoted = (word: string): string => (isPlain(word) ? word : line`'${word.replaceAll("'", "'\\''")}'`);

/** The words for an assessment, without the table's paint: `proved (own receipt)`. */
export function proofOf(view: AssessmentView | null): string {
  const cell = assessment(view, plain);
  return typeof cell === 'object' && cell !== null ? cell.text : String(cell);
}

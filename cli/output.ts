/**
 * What leaves the process. With --json one JSON object (or, for streams, JSON lines) goes to stdout and nothing else;
 * otherwise answers go to stdout and everything about them to stderr.
 */
import type { ApiError, HealthView, ProcessView } from '../actors/daemon/api/views.ts';
import { line, printable, terminalSafeJson } from './print/escape.ts';
import { type Style, styleFor } from './print/style.ts';
import { spaced } from './print/words.ts';

/** A Reply of the daemon, or the same shape made here for what needs no daemon (its journal position is null). */
export interface Answer<Data> {
  readonly command: string;
  readonly data: Data;
  readonly warnings: readonly string[];
  readonly health?: HealthView;
  readonly journalPosition: number | null;
  readonly exitCode: number;
}

export interface OutputOptions {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly color: boolean;
}

export class Output {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly style: Style;
  readonly #color: boolean;
  #hasStatus = false;

  constructor({ json, quiet, color }: OutputOptions) {
    this.json = json;
    this.quiet = quiet;
    this.style = styleFor(process.stdout, process.env, color);
    this.#color = color;
  }

  /** Made when it is needed: opening the stream takes longer than many a command. */
  get #errorStyle(): Style {
    return styleFor(process.stderr, process.env, this.#color);
  }

  /** Prints the answer and returns its exit status. With --quiet only the ids remain, one a line. */
  answer<Data>(
    answer: Answer<Data>,
    print: (data: Data, style: Style) => readonly string[],
    ids?: (data: Data) => readonly string[],
  ): number {
    if (this.json) {
      const { command, data, warnings, health, journalPosition } = answer;
      this.record({ ok: true, command, data, warnings, ...(health ? { health } : {}), journalPosition });
      return answer.exitCode;
    }
    for (const text of this.quiet && ids ? ids(answer.data) : print(answer.data, this.style)) this.text(text);
    for (const warning of answer.warnings) this.note(line`warning: ${warning}`);
    const { health } = answer;
    if (health && health.state !== 'ok' && answer.command !== 'status') {
      this.note(line`health: ${spaced(health.state)}; try: custody status`);
    }
    return answer.exitCode;
  }

  /** One JSON line. */
  record(value: unknown): void {
    process.stdout.write(`${terminalSafeJson(value)}\n`);
  }

  /** One line of the answer for people; it must be printable already. */
  text(text: string): void {
    process.stdout.write(`${text}\n`);
  }

  /** A text in a format of its own, which must be harmless already. */
  raw(text: string): void {
    process.stdout.write(text);
  }

  /** One line about the answer: warnings, hints, progress. Nobody who asked for --json or --quiet wants it. */
  note(text: string): void {
    this.clearStatus();
    if (!this.json && !this.quiet) process.stderr.write(`${this.#errorStyle.yellow(text)}\n`);
  }

  /** What is being waited for, on a line that replaces itself; on terminals only. */
  status(text: string): void {
    if (this.json || this.quiet || !process.stderr.isTTY) return;
    process.stderr.write(`\r\u001b[K${this.#errorStyle.dim(printable(text))}`);
    this.#hasStatus = true;
  }

  clearStatus(): void {
    if (this.#hasStatus) process.stderr.write('\r\u001b[K');
    this.#hasStatus = false;
  }

  /** The bytes of a workload, untouched; waits while the reader is slow, so that a long log needs no memory. */
  async bytes(stream: 'stdout' | 'stderr', data: Uint8Array): Promise<void> {
    const target = process[stream];
    if (!target.write(data)) await new Promise<void>((resolve) => target.once('drain', resolve));
  }

  failure(error: ApiError): void {
    this.clearStatus();
    if (this.json) {
      const { code, message, retryable, next, details } = error;
      this.record({ ok: false, error: { code, message, retryable, next, ...(details ? { details } : {}) } });
      return;
    }
    const style = this.#errorStyle;
    const lines = [
      `${style.red('error')}: ${printable(error.message)} ${style.dim(`(${printable(error.code)})`)}`,
      ...detailLines(error.details),
      ...error.next.map((next) => line`  try: ${next}`),
    ];
    process.stderr.write(`${lines.join('\n')}\n`);
  }
}

/** Details that the message names already. */
const inMessage: ReadonlySet<string> = new Set(['actor', 'matches', 'firstFailure']);

/** Blockers, holders and differing fields, one a line: an error that only counts them would send people to --json. */
function detailLines(details: ApiError['details']): string[] {
  return Object.entries(details ?? {}).flatMap(([name, value]) => {
    // The message is the first issue, so a single one would only be said twice.
    if (inMessage.has(name) || (name === 'issues' && Array.isArray(value) && value.length === 1)) return [];
    if (!Array.isArray(value)) return typeof value === 'object' ? [line`  ${name}: ${describe(value)}`] : [];
    return value.map((entry) => line`  ${name}: ${describe(entry)}`);
  });
}

function describe(entry: unknown): string {
  if (typeof entry !== 'object' || entry === null) return String(entry);
  const { code, detail, holders } = entry as {
    readonly code?: unknown;
    readonly detail?: unknown;
    readonly holders?: unknown;
  };
  if (typeof detail !== 'string') return inWords(entry);
  return `${code ? `${code}: ` : ''}${detail}${heldBy(holders)}`;
}

/** `who guardian, pid 4711, reason absent`; what lies deeper is left to --json. */
const inWords = (entry: object): string =>
  Object.entries(entry)
    .map(([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : spaced(String(value))}`)
    .join(', ');

/** Who stands in the way, by pid and name: what a person looks for first. */
function heldBy(holders: unknown): string {
  if (!Array.isArray(holders) || holders.length === 0) return '';
  const named = (holders as readonly ProcessView[]).map(({ pid, name }) =>
    name ? `pid ${pid} (${name})` : `pid ${pid}`,
  );
  return `; held by ${named.slice(0, 5).join(', ')}${named.length > 5 ? ` and ${named.length - 5} more` : ''}`;
}

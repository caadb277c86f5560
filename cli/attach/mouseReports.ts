/**
 * Reports of the mouse on their way to a program whose screen lies elsewhere in the window, or is only partly there. The
 * viewer's terminal sends them in one form (xterm's ctlseqs, "SGR (1006)"), whichever the program has asked for.
 */
import type { Part } from './frame.ts';

const introducer = '\x1b[<';
const report = /(\d+);(\d+);(\d+)([Mm])/y;
/** Of a report that goes on in the next chunk; no key begins like one. */
const begun = /^[\d;]{0,16}$/;

/** Positions are one byte each there, counted from 1, with 32 added. */
const oldest = { lastPosition: 255 - 32, released: 3, button: 0b11, added: 32 };

export class MouseReports {
  #held = '';

  /** Bytes as they were typed. A report may be cut anywhere behind its introducer: what ends before that may be a key. */
  translate(bytes: Buffer, part: Part, isSgr: boolean): Buffer {
    const text = this.#held + bytes.toString('latin1');
    this.#held = '';
    const moved: string[] = [];
    let at = 0;
    for (let found = text.indexOf(introducer); found >= 0; found = text.indexOf(introducer, at)) {
      moved.push(text.slice(at, found));
      report.lastIndex = found + introducer.length;
      const [whole, button, x, y, final] = report.exec(text) ?? [];
      at = found + introducer.length + (whole?.length ?? 0);
      if (whole !== undefined) {
        const given = { button: Number(button), x: Number(x), y: Number(y), isRelease: final === 'm' };
        moved.push(moveReport(given, part, isSgr));
      } else if (begun.test(text.slice(at))) {
        this.#held = text.slice(found);
        return Buffer.from(moved.join(''), 'latin1');
      } else moved.push(introducer);
    }
    return Buffer.from(moved.join('') + text.slice(at), 'latin1');
  }
}

interface Report {
  readonly button: number;
  readonly x: number;
  readonly y: number;
  readonly isRelease: boolean;
}

/** Nothing where the session has nothing, or where its program could not be told. */
function moveReport({ button, x, y, isRelease }: Report, part: Part, isSgr: boolean): string {
  if (x > part.cols || y > part.rows) return '';
  const [column, row] = [x + part.x, y + part.y];
  if (isSgr) return `\x1b[<${button};${column};${row}${isRelease ? 'm' : 'M'}`;
  if (Math.max(column, row) > oldest.lastPosition) return '';
  const code = isRelease ? (button & ~oldest.button) | oldest.released : button;
  return `\x1b[M${[code, column, row].map((value) => String.fromCharCode(value + oldest.added)).join('')}`;
}

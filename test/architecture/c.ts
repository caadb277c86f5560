/** Blanks comments, strings and character constants of C, keeping every line where it is. */
export function codeOfC(text: string): string {
  const blank = (part: string): string => part.replace(/[^\n]/g, ' ');
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/g, blank);
}

export interface CFunction {
  readonly name: string;
  readonly line: number;
  readonly lines: number;
}

/** The function bodies of a C file: blocks at depth 0 that follow a parameter list. */
export function functionsInC(text: string): CFunction[] {
  const code = withoutDirectives(codeOfC(text));
  const found: CFunction[] = [];
  let depth = 0;
  let head = 0;
  let open = 0;
  for (let at = 0; at < code.length; at += 1) {
    const letter = code[at];
    if (letter === '{') {
      if (depth === 0) open = at;
      depth += 1;
    } else if (letter === '}') {
      depth -= 1;
      if (depth !== 0) continue;
      const name = /(\w+)\s*\([^;{}]*\)\s*(?:__attribute__.*)?$/s.exec(code.slice(head, open))?.[1];
      if (name !== undefined) found.push({ name, ...extent(code, head, at) });
      head = at + 1;
    } else if (letter === ';' && depth === 0) {
      head = at + 1;
    }
  }
  return found;
}

function extent(code: string, head: number, end: number): Omit<CFunction, 'name'> {
  const start = head + (/\S/.exec(code.slice(head))?.index ?? 0);
  const line = code.slice(0, start).split('\n').length;
  return { line, lines: code.slice(start, end).split('\n').length };
}

/** A macro may hold unbalanced braces, so preprocessor lines, continued ones too, are blanked as well. */
function withoutDirectives(code: string): string {
  return code.replace(/^[ \t]*#(?:[^\n]*\\\n)*[^\n]*/gm, (part) => part.replace(/[^\n]/g, ' '));
}

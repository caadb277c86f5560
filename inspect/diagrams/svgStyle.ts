/** Colours and strokes of the drawings. Both themes have text with a contrast of at least 4.5 (WCAG 2.1, 1.4.3). */
import { fonts, type Role } from './label.ts';

type Colour =
  | 'paper'
  | 'box'
  | 'within'
  | 'border'
  | 'text'
  | 'quiet'
  | 'event'
  | 'line'
  | 'lit'
  | 'litBorder'
  | 'added'
  | 'removed'
  | 'changed';

const themes: Readonly<Record<'light' | 'dark', Readonly<Record<Colour, string>>>> = {
  light: {
    paper: '#ffffff',
    box: '#f4f7fb',
    within: '#fbfcfe',
    border: '#7f8fa6',
    text: '#1b2430',
    quiet: '#55627a',
    event: '#1d4f91',
    line: '#5b6b84',
    lit: '#fff1c9',
    litBorder: '#b97a00',
    added: '#1a7f37',
    removed: '#c02a37',
    changed: '#9a5b00',
  },
  dark: {
    paper: '#10151d',
    box: '#1c2532',
    within: '#151c26',
    border: '#5d6f89',
    text: '#e8edf4',
    quiet: '#a9b6c9',
    event: '#8fc0ff',
    line: '#8596b0',
    lit: '#4a3a10',
    litBorder: '#f2b632',
    added: '#4ac26b',
    removed: '#ff7b80',
    changed: '#e3a13c',
  },
};

const variables = (theme: 'light' | 'dark'): string =>
  Object.entries(themes[theme])
    .map(([name, value]) => `--${name}:${value}`)
    .join(';');

const colourOf: Readonly<Record<Role, Colour>> = {
  title: 'text',
  event: 'event',
  guard: 'text',
  action: 'quiet',
  tag: 'quiet',
};

const texts = Object.entries(fonts).map(
  ([role, { size, bold = false }]) =>
    `.${role}{font-size:${size}px;fill:var(--${colourOf[role as Role]})${bold ? ';font-weight:bold' : ''}}`,
);

const rules = [
  "text{font-family:Helvetica,Arial,'Liberation Sans',sans-serif;white-space:pre}",
  ...texts,
  '.paper{fill:var(--paper)}',
  '.state{fill:var(--box);stroke:var(--border);stroke-width:1.2}',
  '.compound{fill:var(--within)}',
  '.region{fill:var(--within);stroke-dasharray:7 4}',
  '.final{stroke-width:1.2}',
  '.ring,.rule{fill:none;stroke:var(--border)}',
  '.rule{stroke-width:.8}',
  '.active>.state{fill:var(--lit);stroke:var(--litBorder);stroke-width:2}',
  '.line{fill:none;stroke:var(--line);stroke-width:1.2;stroke-linejoin:round}',
  '.default{stroke-dasharray:3 3}',
  '.dot,.head,.fork{fill:var(--line)}',
  ...(['added', 'removed', 'changed'] as const).flatMap((change) => [
    `.${change}>.state,.${change}>.line{stroke:var(--${change});stroke-width:2.2}`,
    `.${change}>.head,.${change}>.label text,.${change}>.dot,.${change}>.heading .title{fill:var(--${change})}`,
  ]),
  '.removed>.state,.removed>.line{stroke-dasharray:5 4}',
  '.removed text{text-decoration:line-through}',
];

/** Without a theme the drawing follows the reader's. */
export function styleOf(theme: 'light' | 'dark' | undefined): string {
  const colours =
    theme === undefined
      ? `svg{${variables('light')}}@media(prefers-color-scheme:dark){svg{${variables('dark')}}}`
      : `svg{${variables(theme)}}`;
  return colours + rules.join('');
}

/** Output as programs might make it, and some that none would: seeded, so that a failure can be had again. */
const texts = [
  'a',
  'hello ',
  'The quick brown fox jumps over the lazy dog. ',
  '\u4f60\u597d',
  'e\u0301',
  '\u2500\u2502',
  '\ud83d\ude00',
  'qqqxx',
  ' ',
  '      ',
];
const controls = [
  '\r\n',
  '\n',
  '\r',
  '\b',
  '\t',
  '\x0e',
  '\x0f',
  '\x1bD',
  '\x1bE',
  '\x1bM',
  '\x1b7',
  '\x1b8',
  '\x1bH',
  '\x1b(0',
  '\x1b(B',
  '\x1b)0',
  '\x1b)B',
  '\x1b(A',
  '\x1b=',
  '\x1b>',
  '\x1bn',
  '\x1b*0',
];
const finals = [
  'A',
  'B',
  'C',
  'D',
  'E',
  'F',
  'G',
  'd',
  'J',
  'K',
  'X',
  'P',
  '@',
  'L',
  'M',
  'S',
  'T',
  'b',
  'g',
  'I',
  'Z',
  's',
  'u',
];
const switches = [
  '?1h',
  '?1l',
  '?5h',
  '?6h',
  '?6l',
  '?7h',
  '?25h',
  '?25l',
  '?1049h',
  '?1049l',
  '?1047h',
  '?1047l',
  '?2004h',
  '?2004l',
  '?1000h',
  '?1002h',
  '?1003l',
  '?1006h',
  '?1006l',
  '?1004h',
  '4h',
  '4l',
  '?45h',
  '?45l',
  '?66h',
  '?12h',
  '?12l',
  '!p',
  '2 q',
  '5 q',
  '0 q',
];
const styles = [
  '',
  '0',
  '1',
  '2',
  '3',
  '4',
  '4:3',
  '5',
  '7',
  '8',
  '9',
  '53',
  '22',
  '24',
  '27',
  '31',
  '42',
  '93',
  '104',
  '38;5;200',
  '48;5;17',
  '38;2;1;2;3',
  '48;2;200;100;50',
  '58:5:9',
  '39',
  '49',
];
const strings = [
  '\x1b]0;title\x07',
  '\x1b]2;other \u4f60\x1b\\',
  '\x1b]8;;\x1b\\',
  '\x1bPq#0;1\x1b\\',
  '\x1b]4;1;rgb:00/00/00\x07',
  '\x18',
  '\u009b3C',
];

export type Random = () => number;

/** Mulberry32: small, and the same everywhere. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function noise(random: Random, pieces: number): Buffer {
  const below = (limit: number) => Math.floor(random() * limit);
  const one = (list: readonly string[]) => list[below(list.length)]!;
  const makers = [
    () => one(texts).repeat(1 + below(4)),
    () => one(texts),
    () => one(controls),
    () => '\r\n',
    () => `\x1b[${below(random() < 0.3 ? 50 : 6)}${one(finals)}`.replace('[3J', '[2J'),
    () => `\x1b[${1 + below(12)};${1 + below(30)}H`,
    () => `\x1b[${one(styles)};${one(styles)}m`,
    () => (random() < 0.4 ? `\x1b[${one(switches)}` : one(texts)),
    () => (random() < 0.3 ? one(strings) : one(texts)),
    () => (random() < 0.3 ? `\x1b[${1 + below(5)};${4 + below(8)}r` : one(texts)),
  ];
  return Buffer.from(Array.from({ length: pieces }, () => makers[below(makers.length)]!()).join(''));
}

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { configLines } from '../../cli/print/config.ts';
import { displayWidth } from '../../cli/print/displayWidth.ts';
import { line, printable, terminalSafeJson } from '../../cli/print/escape.ts';
import { goalDetailLines, goalLines } from '../../cli/print/goals.ts';
import { processLines } from '../../cli/print/processes.ts';
import { duration, size } from '../../cli/print/quantity.ts';
import { recoverLines } from '../../cli/print/recover.ts';
import { sessionLines, sessionTable } from '../../cli/print/sessions.ts';
import { plain, styleFor } from '../../cli/print/style.ts';
import { fields, prose, table } from '../../cli/print/table.ts';
import { assessment, findings, result } from '../../cli/print/words.ts';
import { worktreeDetailLines } from '../../cli/print/worktrees.ts';
import { columns, wrapped } from '../../cli/print/wrap.ts';

const dangerous = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

describe('text of strangers', () => {
  it.each([
    ['a\u001b[2Jb', 'a\\x1b[2Jb'],
    ['two\nlines\r\t', 'two\\nlines\\r\\t'],
    ['csi \u009b31m', 'csi \\x9b31m'],
    ['user\u202egpj.exe', 'user\\u{202e}gpj.exe'],
    ['lone \ud800', 'lone \\u{d800}'],
    ['Grüße 日本 👩‍💻', 'Grüße 日本 👩‍💻'],
  ])('%j is printed as %s', (text, shown) => {
    expect(printable(text)).toBe(shown);
  });

  it('cannot act on a terminal, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(printable(text)).not.toMatch(dangerous);
        expect(line`a ${text} b`).not.toMatch(dangerous);
        expect(table({ heading: ['x', 'y'], rows: [[text, text]], empty: '', style: plain }).join('')).not.toMatch(
          dangerous,
        );
      }),
    );
  });

  it('in JSON is the same text, and acts on no terminal either', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(terminalSafeJson({ text })).not.toMatch(dangerous);
        expect(JSON.parse(terminalSafeJson({ text }))).toEqual({ text });
      }),
    );
  });
});

describe('tables', () => {
  it('align by what a terminal shows', () => {
    const lines = table({
      heading: ['id', 'title'],
      rows: [
        ['日本', 'x'],
        ['ab', 'y'],
      ],
      empty: '',
      style: plain,
    });
    expect(lines).toEqual(['id    title', '日本  x', 'ab    y']);
    expect(displayWidth('e\u0301日')).toBe(3);
  });

  it('go on with a sentence below its own column where the line is full', () => {
    const sentence = `${'word '.repeat(20)}end`;
    const cells = ['a name of its own', prose(sentence)] as const;
    const [heading, ...row] = table({ heading: ['name', 'says'], rows: [cells], empty: '', style: plain });
    expect(heading).toBe('name               says');
    expect(row).toEqual([
      `a name of its own  ${'word '.repeat(16).trim()}`,
      `${' '.repeat(19)}${'word '.repeat(4)}end`,
    ]);
    expect(fields([cells], plain)).toEqual(row);
    expect(fields([['a name of its own', sentence]], plain)).toHaveLength(1);
  });

  it('keep the indentation of a sentence, also of one that is broken', () => {
    const broken = wrapped(`    try: ${'word '.repeat(20)}end`, { hang: 9 });
    expect(broken).toEqual([`    try: ${'word '.repeat(18).trim()}`, `${' '.repeat(9)}word word end`]);
    expect(broken.map(displayWidth).filter((width) => width > columns)).toEqual([]);
  });

  it('say what to do when there is nothing', () => {
    expect(table({ heading: ['id'], rows: [], empty: 'nothing; try: x', style: plain })).toEqual(['nothing; try: x']);
  });

  it('leave out fields without a value', () => {
    expect(
      fields(
        [
          ['a', 1],
          ['bcd', null],
          ['e', undefined],
        ],
        plain,
      ),
    ).toEqual(['a  1']);
  });
});

it('assessments and results have one wording', () => {
  const text = (view: Parameters<typeof assessment>[0]) => (assessment(view, plain) as { text: string }).text;
  expect(text({ state: 'live' })).toBe('live');
  expect(text({ state: 'exited', proof: 'own_receipt' })).toBe('proved (own receipt)');
  expect(text({ state: 'unverified', certainty: 'gap', reason: 'guardian_gone' })).toBe(
    'UNVERIFIED gap: guardian gone',
  );
  const base = { code: null, signal: null, errno: null };
  expect(result({ ...base, how: 'exited', code: 7 })).toBe('exit 7');
  expect(result({ ...base, how: 'signaled', signal: 9 })).toBe('killed by SIGKILL');
  expect(result({ ...base, how: 'execFailed', errno: 2 })).toBe('could not be executed (ENOENT)');
  expect(result({ ...base, how: 'notReleased' })).toBe('never ran');
});

it('quantities are short', () => {
  expect([0, 999, 1_000, 59_999, 60_000, 3_600_000, 172_800_000].map(duration)).toEqual([
    '0ms',
    '999ms',
    '1s',
    '59s',
    '1m',
    '1h',
    '2d',
  ]);
  expect([0, 1_023, 1_024, 5_242_880].map(size)).toEqual(['0 B', '1023 B', '1.0 KiB', '5.0 MiB']);
});

it('colour needs a terminal that shows it and nobody who forbids it', () => {
  const terminal = { isTTY: true };
  expect(styleFor(terminal, {}, true).red('x')).toBe('\u001b[31mx\u001b[39m');
  for (const [stream, env, allowed] of [
    [{}, {}, true],
    [terminal, { NO_COLOR: '1' }, true],
    [terminal, { TERM: 'dumb' }, true],
    [terminal, {}, false],
  ] as const) {
    expect(styleFor(stream, env, allowed).red('x')).toBe('x');
  }
});

it('sessions are one line of an ordinary terminal each', () => {
  const session = {
    sessionId: 'P0123456789',
    goalId: 'G0123456789',
    label: 'review',
    workload: 'running.needsInput',
    capture: 'capturing',
    scope: 'unsettled',
    bytes: 123_456_789,
    quietMs: 59_000,
    result: null,
    missing: null,
  };
  const over = { ...session, workload: 'final', capture: 'incomplete', scope: 'unverified', missing: 'ENOSPC' };
  const killed = { ...over, result: { how: 'signaled', code: null, signal: 9, errno: null } };
  const reported = { ...killed, structured: 'e3b0c442', firstFailure: null };
  const unfit = { ...killed, structured: null, firstFailure: { cause: 'result', reason: 'schema_invalid' } };
  const lines = sessionTable({ sessions: [session, over, killed, reported, unfit] as never }, plain);
  expect(lines.map(displayWidth).filter((width) => width > 80)).toEqual([]);
  expect(lines[1]).toMatch(/needs input +118 MiB +not proved +59s +G0123456789 +review/);
  expect(lines[3]).toMatch(/SIGKILL +118 MiB, cut/);
  expect(lines[4]).toMatch(/reported +118 MiB, cut/);
  expect(lines[5]).toMatch(/bad result +118 MiB, cut/);
});

it('a session of which something is missing is never called complete', () => {
  const session = { sessionId: 'P1', workload: 'final', capture: 'complete', scope: 'proved', bytes: 5, quietMs: null };
  const view = {
    ...session,
    result: null,
    structured: null,
    firstFailure: null,
    faults: [],
    missing: 'oldest_dropped',
  };
  const [told, whole] = [view, { ...view, missing: null }].map((one) => sessionLines(one as never, plain).join('\n'));
  expect(told).toMatch(/^output +read to the end, 5 B, missing: oldest dropped$/m);
  expect(told).not.toContain('complete');
  expect(whole).toMatch(/^output +complete, 5 B$/m);
  expect(whole).toMatch(/^work +ended$/m);
});

it('processes stand under the scope that theirs is nested in, and a name that a process chose does no harm', () => {
  const scope = {
    scopeId: 'S1',
    parentScopeId: null,
    assessment: { state: 'live' },
    holdsSlot: true,
    runId: 'R1',
    guardianPid: 1,
    workloadPid: 2,
    summary: 'running',
    termination: 'idle',
    unresponsiveSince: null,
    delegators: ['tmux'],
    members: [{ pid: 2, state: 'S', name: '\u001b[31mred' }],
    membersTotal: 1,
  };
  const nested = { ...scope, scopeId: 'S2', parentScopeId: 'S1', delegators: [], members: [], membersTotal: 0 };
  const other = { ...nested, scopeId: 'S3', parentScopeId: 'S9' };
  const escapee = { pid: 7, ppid: 1, name: 'evil\u001b]0;x\u0007', scopeId: 'S1', generationId: 'W1' };
  const census = {
    infrastructure: [{ what: 'daemon', pid: 5 }],
    escapees: [escapee],
    escapeesTotal: 3,
    looked: 9,
    complete: false,
  };
  const lines = processLines({ scopes: [nested, scope, other], census } as never, plain);
  for (const harm of ['\u001b', '\u0007']) expect(lines.join('\n')).not.toContain(harm);
  const at = (text: string) => lines.findIndex((line) => line.includes(text));
  expect(lines[at('S2')]).toMatch(/^ {2}S2/);
  expect([at('S1'), at('tmux'), at('red'), at('S2'), at('S3')]).toEqual([1, 2, 3, 4, 5]);
  expect(lines.slice(6)).toEqual([
    'infrastructure',
    '    5 daemon',
    "in no scope's tree, not proof of anything",
    expect.stringMatching(/^ {4}7 evil.*started in S1, stands in W1$/),
    '    and 2 more',
    '    not every process of this user could be looked into',
  ]);
});

it('parameters that are no text are readable, too', () => {
  const parameter = { name: 'checks', origin: 'file', description: 'x' };
  const shown = (value: unknown) =>
    configLines({ values: [{ ...parameter, value }], file: '/f' } as never, plain)[1] as string;
  expect(shown({ '*': ['npm', 'test'] })).toContain('{"*":["npm","test"]}');
  expect(shown({})).toMatch(/^checks +none/);
  expect(shown(0)).toMatch(/^checks +0/);
});

it.each([
  [{ verdict: 'accepted', reason: null }, 'passed R1'],
  [{ verdict: 'failed', reason: null }, 'failed R1'],
  [{ verdict: null, reason: 'check_deadline' }, 'check deadline R1'],
  [{ verdict: null, reason: null }, 'no verdict yet R1'],
])('a Goal says how its check went: %j is %s', (check, words) => {
  const goal = { goalId: 'G1', title: 't', status: 'plan', check: { runId: 'R1', ...check } };
  const shown = {
    ...goal,
    integration: 'idle',
    convergence: 'converged',
    reason: 'x',
    rounds: [],
    worktrees: [],
    runs: [],
  };
  expect(goalLines([shown as never], plain)[1]).toContain(words);
  expect(goalDetailLines(shown as never, plain).join('\n')).toMatch(new RegExp(`^check +${words}$`, 'm'));
  expect(goalDetailLines(shown as never, plain).at(-1)).toBe('next: custody runs logs R1');
  const { check: _, ...ofAnEarlierDaemon } = shown;
  expect(goalDetailLines(ofAnEarlierDaemon as never, plain).join('\n')).not.toContain('check');
});

it('health names the scope, and what to try once', () => {
  const finding = { code: 'ownership_unverified', scopeId: 'S1', detail: 'not proved', next: ['custody doctor'] };
  const lines = findings({ state: 'degraded', reasons: [finding], next: ['custody doctor', 'more'] } as never, plain);
  expect(lines).toEqual(['  ownership unverified: S1 not proved', '    try: custody doctor', '  try: more']);
});

it('what is recovered is said in words, and what is over as what is over', () => {
  const lines = (phase: string) => {
    const recovery = { phase, reason: 'worker_exited', attempts: 0, retryInMs: null, evidence: [] };
    const worker = { wanted: true, state: 'starting', pid: 4711, tickAgeMs: null, recovery };
    return recoverLines({ worker, blockers: [], explanation: 'x' } as never, plain).join('\n');
  };
  expect(lines('awaitingTick')).toMatch(
    /recovery awaiting tick\nrecovery +awaiting tick\nbegan because +worker exited/,
  );
  expect(lines('awaitingTick')).not.toContain('pid 4711');
  expect(lines('idle')).toContain('pid 4711');
  expect(lines('idle')).toContain('last one because  worker exited');
});

it('a scope of a worktree that nothing proves is called what it is called everywhere', () => {
  const worktree = {
    generationId: 'W1',
    lifecycle: 'closing',
    runs: [{ runId: 'R1', state: 'ended', scopes: { S1: 'pending' } }],
  };
  expect(worktreeDetailLines(worktree as never, plain).at(-1)).toBe('R1   ended  S1 not proved');
});

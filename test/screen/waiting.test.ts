import { expect, it } from 'vitest';
import { screens, session } from './support/sessions.ts';

const long = { timeoutMs: 60_000 };

it('resolves when the screen shows a text, now or later', async () => {
  const all = screens();
  const one = session(all);
  one.say('ready\r\n');
  expect(await all.waitFor(one.name, { text: 'ready' }, long)).toMatchObject({ matched: true, text: 'ready' });
  const later = all.waitFor(one.name, { regex: 'do(ne|ing)\\b', flags: 'i' }, long);
  one.say('still do');
  const offset = one.say('ING it');
  expect(await later).toEqual({ matched: true, text: 'doING', offset });
});

it('sees a text over wrapped rows, in colours, and one that scrolled by between two looks', async () => {
  const all = screens();
  const one = session(all);
  const wrapped = all.waitFor(one.name, { text: 'needle in the hay' }, long);
  one.say(`${'x'.repeat(75)}nee\x1b[31mdle in\x1b[0m the hay`);
  expect(await wrapped).toMatchObject({ matched: true });
  const hurried = all.waitFor(one.name, { regex: '^hurried$', flags: 'm' }, long);
  one.say(`\r\n${'before\r\n'.repeat(500)}hurried\r\n${'after\r\n'.repeat(500)}`);
  expect(await hurried).toMatchObject({ matched: true });
});

it('does not find what was cleared before anybody asked', async () => {
  const all = screens();
  const one = session(all);
  one.say('gone\x1b[2J');
  expect(await all.waitFor(one.name, { text: 'gone' }, { timeoutMs: 1 })).toEqual({
    matched: false,
    reason: 'timeout',
  });
});

it('refuses an expression that never ends, while every other session is answered', async () => {
  const all = screens();
  const one = session(all, { name: 'slow' });
  const other = session(all, { name: 'other' });
  one.say('a'.repeat(60));
  other.say('fine');
  const refused = expect(all.waitFor(one.name, { regex: '^(a|aa|a?a)+!' }, long)).rejects.toMatchObject({
    code: 'pattern_too_slow',
  });
  expect(await all.waitFor(other.name, { text: 'fine' }, long)).toMatchObject({ matched: true });
  await refused;
  expect((await all.snapshot(one.name)).lines[0]).toBe('a'.repeat(60));
});

it('names an expression that is none', async () => {
  const all = screens();
  const one = session(all);
  one.say('x');
  await expect(all.waitFor(one.name, { regex: '(' }, long)).rejects.toMatchObject({ code: 'pattern_invalid' });
});

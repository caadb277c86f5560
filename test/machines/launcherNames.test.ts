/** Names of launchers are words, told from ids by their colon; nothing else gets into a record under that name (PRIV-01). */
import { describe, expect, it } from 'vitest';
import { payloadSchemas } from '../../machines/events/catalogue.ts';
import { launcherNameText, parseLauncherName } from '../../machines/launcherNames.ts';

describe('the name that a launcher gives a run', () => {
  it.each([
    ['shell:nightly/7', { producer: 'shell', run: 'nightly/7' }],
    ['ci.job-1:a:b', { producer: 'ci.job-1', run: 'a:b' }],
  ])('%s is read as it is written', (text, name) => {
    expect(parseLauncherName(text)).toEqual(name);
    expect(launcherNameText(name)).toBe(text);
  });

  it.each([
    'R2c',
    '',
    ':',
    'shell:',
    ':run',
    'Shell:run',
    'shell:rm -rf x',
    'shell:a\u001b[2J',
    `a:${'b'.repeat(129)}`,
  ])('%j is none', (text) => {
    expect(parseLauncherName(text)).toBeUndefined();
  });

  it('is in a reservation whole, bounded and without blanks, or not at all', () => {
    const { launcher } = payloadSchemas['run.reserved'].shape;
    expect(launcher.safeParse({ producer: 'shell', run: 'nightly/7' }).success).toBe(true);
    expect(launcher.safeParse(undefined).success).toBe(true);
    for (const run of ['sh -c x', 'a\nb', 'a'.repeat(129), ''])
      expect(launcher.safeParse({ producer: 'shell', run }).success).toBe(false);
  });
});

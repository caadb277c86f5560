import { describe, expect, it } from 'vitest';
import { Findings } from '../../actors/daemon/findings.ts';

const silent = (scopeId: string) => ({ scopeId, code: 'guardian_silent', detail: 'it did not answer' });

describe('findings', () => {
  it('of a scope that is proved are none: the silence of a guardian that was just leaving comes late', () => {
    const findings = new Findings(
      () => 0,
      (scopeId) => scopeId === 'proved',
    );
    for (const scopeId of ['proved', 'live']) findings.add(silent(scopeId));
    expect(findings.list()).toMatchObject([{ scopeId: 'live' }]);
    expect(findings.since('proved', 'guardian_silent')).toBeNull();
  });

  it('keep the time since when they hold, however often they are found again', () => {
    let wallMs = 1;
    const findings = new Findings(
      () => wallMs,
      () => false,
    );
    findings.add(silent('one'));
    wallMs = 2;
    findings.add(silent('one'));
    expect(findings.since('one', 'guardian_silent')).toBe(1);
    findings.clear('one', 'guardian_silent');
    findings.add(silent('one'));
    expect(findings.since('one', 'guardian_silent')).toBe(2);
  });
});

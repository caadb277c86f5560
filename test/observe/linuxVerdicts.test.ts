import { describe, expect, it } from 'vitest';
import { createLinuxAdapter, type LinuxAdapterOptions } from '../../actors/observe/linux/adapter.ts';
import type { Existence } from '../../actors/observe/linux/probe.ts';
import type { Sample } from '../../actors/observe/sample.ts';
import type { ProcessIdentity } from '../../machines/identity.ts';
import { installationIdSchema } from '../../machines/ids.ts';
import {
  BOOT,
  PID,
  quietMachine,
  type Scripted,
  ScriptedProc,
  SELF,
  statLine,
  statusText,
} from './support/scriptedProc.ts';

const installationId = installationIdSchema.parse('Itest');
const NAMESPACE = 'pid:4026531836,time:4026531834';
const STAT = `/proc/${PID}/stat`;
const STATUS = `/proc/${PID}/status`;
const BOOT_ID = '/proc/sys/kernel/random/boot_id';
const gone = { errno: 'ENOENT' };

const recorded: ProcessIdentity = {
  evidenceVersion: 1,
  installationId,
  platform: 'linux',
  bootId: BOOT,
  pid: PID,
  processToken: '5000',
  uid: 1_000,
  namespace: NAMESPACE,
  adapterEvidence: '',
};

type Script = Record<string, Scripted | readonly Scripted[]>;

interface Scene {
  readonly files?: Script;
  readonly kill?: readonly Existence[];
  readonly withoutProbe?: boolean;
  readonly options?: Partial<LinuxAdapterOptions>;
}

function stage({ files = {}, kill = ['no_such_process'], withoutProbe = false, options = {} }: Scene = {}) {
  const proc = new ScriptedProc({ ...quietMachine(), ...files });
  const answers = [...kill];
  const probe = () => (answers.length > 1 ? answers.shift()! : answers[0]!);
  const adapter = createLinuxAdapter({
    installationId,
    proc,
    own: { pid: SELF, groups: [1_000] },
    ...(withoutProbe ? {} : { probe }),
    ...options,
  });
  return { proc, adapter };
}

function observe(scene: Scene, identity: ProcessIdentity = recorded): Sample {
  return stage(scene).adapter.observe(identity);
}

function said(sample: Sample): string {
  return `${sample.result}/${sample.reason}`;
}

describe('ID: whose record it is', () => {
  it.each<[string, Partial<ProcessIdentity>]>([
    ['evidence_version', { evidenceVersion: 2 }],
    ['foreign_installation', { installationId: installationIdSchema.parse('Iother') }],
    ['foreign_platform', { platform: 'darwin' }],
    ['namespace_mismatch', { namespace: 'pid:1,time:4026531834' }],
    ['namespace_mismatch', { namespace: 'pid:4026531836,time:1' }],
    ['malformed', { pid: 0 }],
    ['malformed', { pid: -1 }],
    ['malformed', { pid: 1.5 }],
  ])('ID-03, ID-06: %s is unknown, and the process is not even looked at', (reason, change) => {
    const { adapter, proc } = stage();
    expect(said(adapter.observe({ ...recorded, ...change }))).toBe(`unknown/${reason}`);
    expect(proc.readsOf(change.pid ?? PID)).toBe(0);
  });

  it('ID-02: a token is compared and nothing else: an odd one meets no process, and reaches no parser', () => {
    for (const processToken of ['', '05000', '5000 ', '-1', 'x'.repeat(128), '5e3']) {
      expect(said(observe({}, { ...recorded, processToken }))).toBe('ended/replaced');
    }
  });

  it('case 44, OBS-03: another boot id ends every process of the earlier boot', () => {
    const { adapter, proc } = stage();
    expect(said(adapter.observe({ ...recorded, bootId: '99999999-2222-3333-4444-555555555555' }))).toBe(
      'ended/boot_changed',
    );
    expect(proc.readsOf(PID)).toBe(0);
  });

  it('case 44, OBS-05: a boot id that does not stay the same is no reboot', () => {
    const files = { [BOOT_ID]: [`${BOOT}\n`, '99999999-2222-3333-4444-555555555555\n'] };
    const earlier = { ...recorded, bootId: '99999999-2222-3333-4444-555555555555' };
    expect(said(observe({ files }, earlier))).toBe('unknown/context_changed');
  });
});

describe('OBS-02: stat, uid, stat', () => {
  it('reads the boot id first and believes a match only when it is found twice', () => {
    const { adapter, proc } = stage();
    const sample = adapter.observe(recorded);
    expect(said(sample)).toBe('alive/running');
    expect(proc.asked.filter((path) => path === BOOT_ID || path.startsWith(`/proc/${PID}/`))).toEqual([
      BOOT_ID,
      STAT,
      STATUS,
      STAT,
    ]);
    expect(sample.sampledAt.bootId).toBe(BOOT);
    expect(sample.contextDigest).toMatch(/^[0-9a-f]{32}$/);
  });

  const other = statLine({ start: '6000' });
  const mine = statLine();
  it.each<[string, string, Script, Existence[]?]>([
    ['the pid is taken over between the looks', 'ended/replaced', { [STAT]: [mine, other, other] }],
    ['it flickers on', 'unknown/race', { [STAT]: [mine, other, mine, other, mine] }],
    ['a stranger who is gone at the second look', 'ended/absent', { [STAT]: [other, gone, gone] }],
    [
      'a stranger who changes at the second look',
      'ended/replaced',
      { [STAT]: [other, statLine({ start: '7000' }), other, other] },
    ],
    ['a stranger is not seen a second time', 'alive/running', { [STAT]: [other, mine] }],
    ['a zombie is not seen a second time', 'alive/running', { [STAT]: [statLine({ state: 'Z' }), mine] }],
    ['the entry is missing for one look', 'alive/running', { [STAT]: [mine, gone, mine] }],
    ['status is missing for one look', 'alive/running', { [STATUS]: [gone, statusText()] }],
    ['status stays missing beside a stat', 'unknown/race', { [STATUS]: gone }],
    ['it dies before its uid is read', 'ended/absent', { [STAT]: [mine, gone], [STATUS]: gone }],
    ['it dies before the second look', 'ended/absent', { [STAT]: [mine, gone] }],
    ['it becomes a zombie between the looks', 'ended/defunct', { [STAT]: [mine, statLine({ state: 'Z' })] }],
    ['case 50: it dies between open and read', 'ended/absent', { [STAT]: { errno: 'ESRCH' } }],
    ['a zombie that is reaped between the looks', 'ended/absent', { [STAT]: [statLine({ state: 'Z' }), gone] }],
  ])('resamples once when %s', (_, verdict, files) => {
    const { adapter, proc } = stage({ files });
    expect(said(adapter.observe(recorded))).toBe(verdict);
    expect(proc.readsOf(PID)).toBeLessThanOrEqual(6);
  });
});

describe('OBS-03: nothing else ends a process', () => {
  it.each<[string, Script]>([
    ['absent', { [STAT]: gone }],
    ['replaced', { [STAT]: statLine({ start: '1' }) }],
    ['defunct', { [STAT]: statLine({ state: 'Z' }) }],
  ])('%s', (reason, files) => {
    const sample = observe({ files });
    expect(sample).toMatchObject({ result: 'ended', reason, signalable: false });
  });

  it.each<[string, Script, object]>([
    ['R', {}, { result: 'alive', reason: 'running', signalable: true }],
    ['D', { [STAT]: statLine({ state: 'D' }) }, { result: 'alive', reason: 'running' }],
    ['I', { [STAT]: statLine({ state: 'I' }) }, { result: 'alive', reason: 'running' }],
    ['a letter of a later kernel', { [STAT]: statLine({ state: 'Q' }) }, { result: 'alive', reason: 'running' }],
    ['T', { [STAT]: statLine({ state: 'T' }) }, { result: 'alive', reason: 'stopped', signalable: true }],
    ['t', { [STAT]: statLine({ state: 't' }) }, { result: 'alive', reason: 'stopped' }],
    ['Z with a thread', { [STAT]: statLine({ state: 'Z', threads: 2 }) }, { result: 'alive', reason: 'leader_zombie' }],
    ['X with a thread', { [STAT]: statLine({ state: 'X', threads: 2 }) }, { result: 'alive', reason: 'leader_zombie' }],
    [
      'case 53: another uid',
      { [STATUS]: statusText(0) },
      { result: 'alive', reason: 'uid_changed', signalable: false },
    ],
  ])('state %s is alive', (_, files, expected) => {
    expect(observe({ files })).toMatchObject(expected);
  });

  it('OBS-06: state X is looked at again, and means death only when it stays', () => {
    const vanishing = statLine({ state: 'X' });
    expect(said(observe({ files: { [STAT]: [vanishing, gone] } }))).toBe('ended/absent');
    expect(said(observe({ files: { [STAT]: [vanishing, statLine()] } }))).toBe('alive/running');
    expect(said(observe({ files: { [STAT]: vanishing } }))).toBe('ended/defunct');
  });

  it('case 43: in a pid space that a tick can exhaust, a match is weak and not to be signalled', () => {
    const files = { '/proc/sys/kernel/pid_max': '301\n' };
    expect(observe({ files })).toMatchObject({ result: 'alive', reason: 'identity_weak', signalable: false });
  });
});

describe('OBS-04: what cannot be seen is unknown', () => {
  const errnos = [
    ['EACCES', 'permission'],
    ['EPERM', 'permission'],
    ['EMFILE', 'emfile'],
    ['ENFILE', 'emfile'],
    ['ENOMEM', 'enomem'],
    ['EIO', 'io'],
    ['ENOTDIR', 'proc_unusable'],
    ['EBADMSG', 'io'],
  ] as const;
  it.each(errnos)('cases 46 and 47: %s at any of the reads is unknown/%s', (errno, reason) => {
    const failing = { errno };
    for (const files of [{ [STAT]: failing }, { [STATUS]: failing }, { [STAT]: [statLine(), failing] }]) {
      expect(said(observe({ files }))).toBe(`unknown/${reason}`);
    }
    expect(said(observe({ files: { [BOOT_ID]: failing } }))).toBe(`unknown/${reason}`);
  });

  const line = statLine().toString('latin1');
  it.each([
    ['empty', ''],
    ['cut after the pid', '700 '],
    ['cut in the name', '700 (wo'],
    ['without state', '700 (work)'],
    ['cut before the thread count', '700 (work) S 1 1'],
    ['cut in the start time', `${line.slice(0, line.indexOf('5000') + 2)}`],
    ['cut before the line feed', line.slice(0, -1)],
    ['with letters for the start time', line.replace('5000', 'five')],
    ['with letters for the thread count', line.replace(' 1 0 5000', ' x 0 5000')],
    ['with nothing for the start time', line.replace('5000', '')],
    ['with nothing for the thread count', line.replace(' 1 0 5000', '  0 5000')],
    ['with two letters for the state', line.replace(') S', ') SS')],
    ['of another pid', line.replace('700', '701')],
    ['text of something else', 'hello\n'],
  ])('case 48: a stat line %s is unknown/malformed', (_, content) => {
    expect(said(observe({ files: { [STAT]: content } }))).toBe('unknown/malformed');
  });

  it.each([
    ['without the line', 'Name:\twork\n'],
    ['cut in the number', 'Name:\twork\nUid:\t10'],
    ['with letters', 'Name:\twork\nUid:\troot\t0\t0\t0\n'],
  ])('case 48: a status %s is unknown/malformed', (_, content) => {
    expect(said(observe({ files: { [STATUS]: content } }))).toBe('unknown/malformed');
  });

  it('case 48: what an earlier and longer read left in the buffer is not read again', () => {
    const { adapter, proc } = stage();
    expect(said(adapter.observe(recorded))).toBe('alive/running');
    proc.set(STATUS, 'Name:\twork\n');
    expect(said(adapter.observe(recorded))).toBe('unknown/malformed');
  });

  it.each<[string, string, Script]>([
    ['proc_unusable', 'nothing is mounted', { '/proc/self': gone, [BOOT_ID]: gone }],
    ['foreign_proc', 'self names nobody', { '/proc/self': gone }],
    ['foreign_proc', 'self is somebody else', { '/proc/self': '17' }],
    [
      'foreign_proc',
      'an outer namespace shows the same number',
      {
        '/proc/self/status': 'Uid:\t1\t1\t1\t1\nNSpid:\t4000\t4000\nCapEff:\t0\n',
      },
    ],
    ['malformed', 'own status lacks NSpid', { '/proc/self/status': 'Uid:\t1\t1\t1\t1\nCapEff:\t0\n' }],
    ['malformed', 'the boot id is none', { [BOOT_ID]: 'yes\n' }],
    ['malformed', 'the namespace link is none', { '/proc/self/ns/pid': 'pid' }],
    [
      'proc_unusable',
      'another file system lies over it',
      {
        '/proc/self/mountinfo': '22 27 0:21 / /proc rw - proc proc rw\n30 27 0:9 / /proc rw - tmpfs none rw\n',
      },
    ],
    [
      'proc_unusable',
      'hidepid has a value that we do not know',
      {
        '/proc/self/mountinfo': '22 27 0:21 / /proc rw - proc proc rw,hidepid=someday\n',
      },
    ],
    [
      'proc_unusable',
      'only processes are shown',
      {
        '/proc/self/mountinfo': '22 27 0:21 / /proc rw - proc proc rw,subset=pid\n',
      },
    ],
  ])('case 51: unknown/%s when %s', (reason, _, files) => {
    const { adapter, proc } = stage({ files });
    expect(said(adapter.observe(recorded))).toBe(`unknown/${reason}`);
    expect(proc.readsOf(PID)).toBe(0);
    expect(() => adapter.capture(PID)).toThrow(expect.objectContaining({ code: 'context_unavailable', reason }));
  });

  it('ID-08: a process that cannot be read is not captured, and the error says what to do', () => {
    const capture = (files: Script) => () => stage({ files }).adapter.capture(PID);
    const refusal = (code: string, reason: string) =>
      expect.objectContaining({ code, reason, next: [expect.any(String)] });
    expect(capture({ [STAT]: gone })).toThrow(refusal('process_gone', 'absent'));
    expect(capture({ [STAT]: [statLine(), statLine({ start: '6000' })] })).toThrow(refusal('process_changed', 'race'));
    expect(capture({ [STATUS]: { errno: 'EACCES' } })).toThrow(refusal('context_unavailable', 'permission'));
    expect(capture({})()).toEqual(recorded);
  });
});

describe('OBS-05: absence', () => {
  const hidden = (value: string, more = '') => ({
    '/proc/self/mountinfo': `22 27 0:21 / /proc rw - proc proc rw,hidepid=${value}${more}\n`,
  });

  it.each(['2', 'invisible', '4', 'ptraceable'])(
    'case 45: hidepid=%s hides a foreign process, dead or alive',
    (value) => {
      const files = { ...hidden(value), [STAT]: gone };
      expect(said(observe({ files }, { ...recorded, uid: 7 }))).toBe('unknown/proc_hidden');
      expect(said(observe({ files }, recorded))).toBe('ended/absent');
      expect(said(observe({ files, withoutProbe: true }, recorded))).toBe('unknown/proc_hidden');
    },
  );

  it.each(['0', 'off', '1', 'noaccess'])('case 45: hidepid=%s does not hide an entry', (value) => {
    const files = { ...hidden(value), [STAT]: gone };
    expect(said(observe({ files }, { ...recorded, uid: 7 }))).toBe('ended/absent');
    expect(said(observe({ files, withoutProbe: true }, { ...recorded, uid: 7 }))).toBe('ended/absent');
  });

  it('case 45: the group of the mount sees everything under hidepid=2 and not under 4', () => {
    const stranger = { ...recorded, uid: 7 };
    const inGroup = { own: { pid: SELF, groups: [5] } };
    expect(said(observe({ files: { ...hidden('2', ',gid=5'), [STAT]: gone }, options: inGroup }, stranger))).toBe(
      'ended/absent',
    );
    expect(said(observe({ files: { ...hidden('2', ',gid=6'), [STAT]: gone }, options: inGroup }, stranger))).toBe(
      'unknown/proc_hidden',
    );
    expect(said(observe({ files: { ...hidden('4', ',gid=5'), [STAT]: gone }, options: inGroup }, stranger))).toBe(
      'unknown/proc_hidden',
    );
  });

  it('case 41: kill(2) is asked, and when it knows the pid, absence is hiding', () => {
    const files = { [STAT]: gone };
    expect(said(observe({ files, kill: ['exists'] }))).toBe('unknown/proc_hidden');
    expect(said(observe({ files, kill: ['not_permitted'] }))).toBe('unknown/proc_hidden');
    expect(said(observe({ files, kill: ['failed'] }))).toBe('unknown/io');
    expect(said(observe({ files, kill: ['exists', 'no_such_process'] }))).toBe('ended/absent');
    expect(said(observe({ files: { [STAT]: [gone, statLine({ start: '9' })] }, kill: ['exists'] }))).toBe(
      'ended/replaced',
    );
  });

  const changed: [string, Script][] = [
    ['the boot id', { [BOOT_ID]: [`${BOOT}\n`, '99999999-2222-3333-4444-555555555555\n'] }],
    ['the namespace', { '/proc/self/ns/pid': ['pid:[4026531836]', 'pid:[9]'] }],
    [
      'the mount',
      { '/proc/self/mountinfo': ['22 27 0:21 / /proc rw - proc proc rw\n', '31 27 0:40 / /proc rw - proc proc rw\n'] },
    ],
    [
      'hidepid',
      {
        '/proc/self/mountinfo': [
          '22 27 0:21 / /proc rw - proc proc rw\n',
          '22 27 0:21 / /proc rw - proc proc rw,hidepid=2\n',
        ],
      },
    ],
  ];
  it.each(changed)('absence, replacement and death count only while %s stays the same', (_, context) => {
    for (const look of [gone, statLine({ start: '1' }), statLine({ state: 'Z' })]) {
      expect(said(observe({ files: { ...context, [STAT]: look } }))).toBe('unknown/context_changed');
    }
    expect(said(observe({ files: context }))).toBe('alive/running');
  });

  it('absence does not count when our own process is not visible any more', () => {
    const files = { [STAT]: gone, '/proc/self': [String(SELF), gone] };
    expect(said(observe({ files }))).toBe('unknown/foreign_proc');
  });
});

describe('case 43: through the pidfd of a holder', () => {
  const holder = { pid: 600, fd: 9 };
  const FDINFO = '/proc/600/fdinfo/9';
  const info = (inode: number, pid: number) => `pos:\t0\nflags:\t02000002\nmnt_id:\t4\nino:\t${inode}\nPid:\t${pid}\n`;
  const strong = { ...recorded, adapterEvidence: '77' };

  it.each<[string, string, Script]>([
    ['names the process', 'alive/running/pidfd', { [FDINFO]: info(77, PID) }],
    ['names it under another user', 'alive/uid_changed/pidfd', { [FDINFO]: info(77, PID), [STATUS]: statusText(0) }],
    ['names a zombie', 'ended/defunct/pidfd', { [FDINFO]: info(77, PID), [STAT]: statLine({ state: 'Z' }) }],
    ['outlived it', 'ended/absent/pidfd', { [FDINFO]: info(77, -1), [STAT]: gone }],
    ['outlived it, and the pid is taken', 'ended/replaced/pidfd', { [FDINFO]: info(77, -1) }],
    ['names another process by now', 'alive/running/ticks', { [FDINFO]: info(78, PID) }],
    ['names one of another namespace', 'alive/running/ticks', { [FDINFO]: info(77, 0) }],
    ['is gone', 'alive/running/ticks', {}],
    ['may not be read', 'alive/running/ticks', { [FDINFO]: { errno: 'EACCES' } }],
    ['is no pidfd', 'alive/running/ticks', { [FDINFO]: 'pos:\t0\nino:\t77\n' }],
    ['says what stat does not', 'ended/replaced/ticks', { [FDINFO]: info(77, PID), [STAT]: statLine({ start: '9' }) }],
    [
      'names what stat may not show',
      'unknown/permission/pidfd',
      { [FDINFO]: info(77, PID), [STAT]: { errno: 'EPERM' } },
    ],
  ])('a holder that %s: %s', (_, expected, files) => {
    const sample = stage({ files }).adapter.observe(strong, holder);
    expect(`${said(sample)}/${sample.strength}`).toBe(expected);
  });
});

describe('case 54: pins', () => {
  it('keep no descriptor of what could not be pinned', () => {
    for (const files of [
      { [STATUS]: gone },
      { [STAT]: gone },
      { [STAT]: statLine({ start: '9' }) },
      { [STAT]: 'torn' },
    ]) {
      const { adapter, proc } = stage({ files });
      expect([adapter.pin(recorded), adapter.pinned, proc.openDescriptors]).toEqual([false, 0, 0]);
    }
  });

  it('are closed one by one or all together, and a second pin of one process is the first', () => {
    const { adapter, proc } = stage();
    expect([adapter.pin(recorded), adapter.pin(recorded), proc.openDescriptors]).toEqual([true, true, 2]);
    adapter.unpin(recorded);
    adapter.unpin(recorded);
    expect(proc.openDescriptors).toBe(0);
    adapter.pin(recorded);
    adapter.close();
    expect([adapter.pinned, proc.openDescriptors]).toEqual([0, 0]);
  });

  it('case 47: without a free descriptor a process is simply not pinned', () => {
    const { adapter } = stage({ files: { [STAT]: [{ errno: 'EMFILE' }, statLine()] } });
    expect(adapter.pin(recorded)).toBe(false);
    expect(adapter.observe(recorded)).toMatchObject({ result: 'alive', strength: 'ticks' });
  });
});

describe('OBS-01: reads', () => {
  it('a pass reads recorded pids only, at most six files each, and the context once', () => {
    const files: Script = {};
    const requests = Array.from({ length: 64 }, (_, index) => {
      const pid = 10_000 + index;
      files[`/proc/${pid}/stat`] = statLine({ pid });
      files[`/proc/${pid}/status`] = statusText();
      return { identity: { ...recorded, pid } };
    });
    const { adapter, proc } = stage({ files });
    const samples = adapter.sampleSlice(requests);
    expect(new Set(samples.map(said))).toEqual(new Set(['alive/running']));
    const own = proc.asked.filter((path) => !/^\/proc\/\d+\//.test(path));
    expect(own).toHaveLength(7);
    expect(proc.asked).toHaveLength(7 + 3 * 64);
  });

  it('a slice ends when its time is used up, after one sample at least', () => {
    let now = 0;
    const { adapter } = stage({ options: { monoMs: () => now++ } });
    const requests = Array.from({ length: 10 }, () => ({ identity: recorded }));
    expect(adapter.sampleSlice(requests, { budgetMs: 3 })).toHaveLength(3);
    expect(adapter.sampleSlice(requests, { budgetMs: 0 })).toHaveLength(1);
    expect(adapter.sampleSlice(requests)).toHaveLength(10);
  });
});

import { describe, expect, it } from 'vitest';
import { parseProcMount } from '../../actors/observe/linux/mountinfo.ts';

const line = (options: string, { path = '/proc', root = '/', type = 'proc', id = 22 } = {}): string =>
  `${id} 27 0:21 ${root} ${path} rw,relatime shared:4 master:1 - ${type} proc ${options}`;

describe('OBS-05: the procfs mount', () => {
  it.each([
    ['rw', 'off', 0, false],
    ['rw,hidepid=0', 'off', 0, false],
    ['rw,hidepid=off', 'off', 0, false],
    ['rw,hidepid=1', 'noaccess', 0, false],
    ['rw,hidepid=noaccess', 'noaccess', 0, false],
    ['rw,gid=23,hidepid=2', 'invisible', 23, false],
    ['rw,hidepid=invisible', 'invisible', 0, false],
    ['rw,hidepid=4', 'ptraceable', 0, false],
    ['rw,hidepid=ptraceable,subset=pid', 'ptraceable', 0, true],
  ])('%s', (options, ...expected) => {
    const { instance, ...meaning } = parseProcMount(line(options), '/proc')!;
    expect([instance, meaning]).toEqual(['22:0:21', { hidePid: expected[0], gid: expected[1], pidsOnly: expected[2] }]);
  });

  it('an unknown way of hiding, another file system, a part of a procfs and no mount at all are not usable', () => {
    expect(parseProcMount(line('rw,hidepid=3'), '/proc')).toBeUndefined();
    expect(parseProcMount(line('rw', { type: 'fuse.lxcfs' }), '/proc')).toBeUndefined();
    expect(parseProcMount(line('rw', { root: '/sys' }), '/proc')).toBeUndefined();
    expect(parseProcMount(line('rw', { path: '/proc/sys' }), '/proc')).toBeUndefined();
    expect(parseProcMount('', '/proc')).toBeUndefined();
    expect(parseProcMount('cut off - proc', '/proc')).toBeUndefined();
  });

  it('the last mount on the path is the one that is seen', () => {
    const both = (first: string, last: string) => parseProcMount(`${first}\n${last}\n`, '/proc');
    expect(both(line('rw'), line('rw,hidepid=2', { id: 30 }))).toMatchObject({
      instance: '30:0:21',
      hidePid: 'invisible',
    });
    expect(both(line('rw'), line('rw', { type: 'tmpfs' }))).toBeUndefined();
    expect(both(line('rw', { type: 'tmpfs' }), line('rw'))).toMatchObject({ hidePid: 'off' });
  });

  it('paths with blanks are compared as they are', () => {
    expect(parseProcMount(line('rw', { path: '/my\\040proc' }), '/my proc')).toMatchObject({ hidePid: 'off' });
  });
});

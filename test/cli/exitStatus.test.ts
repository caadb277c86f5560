import { expect, it } from 'vitest';
import { exitStatusOf } from '../../cli/exitStatus.ts';

const end = { how: 'exited', code: null, signal: null, errno: null };

it.each([
  ['its own code', { ...end, code: 7 }, 7],
  ['128 + signal', { ...end, how: 'signaled', signal: 15 }, 143],
  ['128 + signal with a core', { ...end, how: 'dumped', signal: 11 }, 139],
  ['127 when there is no such program', { ...end, how: 'execFailed', errno: 2 }, 127],
  ['126 when it cannot be executed', { ...end, how: 'execFailed', errno: 13 }, 126],
  ['125 when it never ran', { ...end, how: 'notReleased' }, 125],
  ['5 when its end is not known', null, 5],
])('a workload ends with %s', (_, result, status) => {
  expect(exitStatusOf({ result })).toBe(status);
});

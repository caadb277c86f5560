/** A report is not lost where nobody keeps it (PROMO-08). */
import { expect, it } from 'vitest';
import { OperatingError } from '../../actors/runtime/operatingError.ts';
import { offered } from '../../cli/acceptance/record.ts';

it.each([
  ['kept', Promise.resolve(true), { isRecorded: true, warnings: [], exitCode: 0 }],
  [
    'of nobody',
    Promise.resolve(false),
    { isRecorded: false, warnings: ['not recorded: there is no installation'], exitCode: 0 },
  ],
])('%s: what is said of it', async (_, recorded, said) => {
  expect(await offered(recorded)).toEqual(said);
});

it('a refusal is told beside the report, by its name and exit status', async () => {
  const refusal = new OperatingError({ code: 'acceptance_refused', message: 'another program', exitCode: 13 });
  expect(await offered(Promise.reject(refusal))).toEqual({
    isRecorded: false,
    warnings: ['not recorded: another program (acceptance_refused)'],
    exitCode: 13,
  });
});

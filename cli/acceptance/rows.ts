/**
 * Every row, in lanes that go on beside each other: one with stores that no daemon has, one with the installation of the
 * stage, whose daemon is killed and busy now and then. The contract of this host comes first in it, because seals rest on it.
 */
import type { Row } from './row.ts';
import { concurrentRow } from './rows/concurrent.ts';
import { killedRow } from './rows/killed.ts';
import { lateOwnerRow } from './rows/lateOwner.ts';
import { missedRow } from './rows/missed.ts';
import { refusingStoreRow } from './rows/refusingStore.ts';
import { reorderedRow } from './rows/reordered.ts';
import { repeatedRow } from './rows/repeated.ts';
import { resumedRow } from './rows/resumed.ts';
import { reusedRow } from './rows/reused.ts';
import { survivorRow } from './rows/survivor.ts';
import { unreadableRow } from './rows/unreadable.ts';
import { vanishedRow } from './rows/vanished.ts';
import { verificationRows } from './rows/verifications.ts';

export const lanes: readonly (readonly Row[])[] = [
  [killedRow, reorderedRow, reusedRow, unreadableRow],
  [
    ...verificationRows,
    repeatedRow,
    concurrentRow,
    vanishedRow,
    refusingStoreRow,
    resumedRow,
    missedRow,
    survivorRow,
    lateOwnerRow,
  ],
];

import { testTable } from './support/tableSuite.ts';
import { recoveryFenceTable } from './tables/recoveryFence.ts';

testTable(recoveryFenceTable);

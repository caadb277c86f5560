import { testTable } from './support/tableSuite.ts';
import { workerIncarnationTable } from './tables/workerIncarnation.ts';

testTable(workerIncarnationTable);

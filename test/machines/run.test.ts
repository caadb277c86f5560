import { testTable } from './support/tableSuite.ts';
import { runTable } from './tables/run.ts';

testTable(runTable);

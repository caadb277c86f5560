import { testTable } from './support/tableSuite.ts';
import { goalTable } from './tables/goal.ts';

testTable(goalTable);

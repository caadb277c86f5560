import { testTable } from './support/tableSuite.ts';
import { executionScopeTable } from './tables/executionScope.ts';

testTable(executionScopeTable);

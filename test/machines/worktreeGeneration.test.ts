import { testTable } from './support/tableSuite.ts';
import { worktreeGenerationTable } from './tables/worktreeGeneration.ts';

testTable(worktreeGenerationTable);

import { testTable } from './support/tableSuite.ts';
import { ptySessionTable } from './tables/ptySession.ts';

testTable(ptySessionTable);

/** The agents that the tests run. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installPackages } from '../../support/installedPackages.ts';

const directory = fileURLToPath(new URL('../fixtures', import.meta.url));

export const installAgents = (): Promise<string> => installPackages(directory);

export const agentProgram = (name: string): string => join(directory, 'node_modules', '.bin', name);

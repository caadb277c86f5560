/** Another program at the database: it holds the lock of writers until it is told to let go. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';

const program = `
const Database = require('better-sqlite3');
const database = new Database(process.argv[1], { fileMustExist: true });
database.exec('BEGIN IMMEDIATE');
process.stdout.write('held');
process.stdin.on('data', (ms) => setTimeout(() => { database.close(); process.exit(0); }, Number(ms)));
process.stdin.on('end', () => process.exit(0));
`;

export interface WriterBeside {
  /** Lets go so many milliseconds later, also while this process is blocked; resolves when it is gone. */
  letGoAfter(ms: number): Promise<unknown>;
}

export async function writerBeside(path: string): Promise<WriterBeside> {
  const child = spawn(process.execPath, ['-e', program, path], {
    cwd: import.meta.dirname,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const gone = once(child, 'exit');
  onTestFinished(() => void child.stdin.end());
  await once(child.stdout, 'data');
  return {
    letGoAfter(ms) {
      child.stdin.write(String(ms));
      return gone;
    },
  };
}

/** A terminal that is hung up. */
import { randomBytes } from 'node:crypto';
import { closeSync, existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ReadStream } from 'node:tty';
import { type Bench, frameFor, launchedAs, receipt, shell } from '../bench.ts';

/** Nobody reads to the end of a terminal that has been hung up. */
const lingerMs = 100;

/** The last descriptor of the master is closed: the workload hears SIGHUP, and its end is proved as any other. */
export async function hangUp(bench: Bench): Promise<string | null> {
  await mkdir(bench.directory, { mode: 0o700 });
  const master = await launchedInTerminal(bench);
  const { launch, up } = master;
  await launch.openGate();
  await up;
  master.close();
  const { code } = await launch.exited;
  if (!existsSync(join(bench.directory, 'hup'))) return 'the workload was not hung up';
  return code === 0 && (await receipt(bench.directory, 'exit')) !== undefined ? null : 'no exit receipt followed';
}

async function launchedInTerminal(bench: Bench) {
  // Loaded here alone: `custody init` makes no terminal and needs no native package for one.
  const { nodePty } = await import('../../../../pty/host/nodePty.ts');
  const { master, slave } = nodePty.open(80, 24);
  const stream = new ReadStream(master);
  stream.on('error', () => undefined); // EIO: nobody holds the other end any more
  bench.atEnd(() => stream.destroy());
  try {
    // The end of the input can be seen before the signal comes; a shell that waits for a child instead may miss it.
    const script = `trap ': > hup; exit 0' HUP; echo up; read x; sleep 1; exit 0`;
    const frame = await frameFor(bench, shell(script));
    const terminal = { marker: randomBytes(16).toString('hex'), lingerMs };
    const stdio = [slave, slave, slave] as const;
    const launch = await launchedAs(bench, { ...frame, terminal, guardianPath: bench.guardianPath, stdio });
    const up = new Promise<void>((resolve, reject) => {
      stream.on('data', (chunk) => String(chunk).includes('up') && resolve());
      stream.on('close', () => reject(new Error('the terminal ended')));
    });
    up.catch(() => undefined);
    return { launch, up, close: () => stream.destroy() };
  } finally {
    closeSync(slave);
  }
}

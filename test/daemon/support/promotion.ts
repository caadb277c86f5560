/** A daemon that takes what was measured from a file, and what it asks of an acceptance report. */
import { writeFileSync } from 'node:fs';
import { release } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { MetricsReport } from '../../../actors/metrics/report.ts';
import type { AcceptanceReport } from '../../../actors/promotion/acceptanceReport.ts';
import { programDigest } from '../../../actors/promotion/programDigest.ts';
import { fileIdentityOf } from '../../../actors/runtime/generations.ts';
import type { Place } from '../../../machines/note.ts';
import { guardianBinary, guardianDigest } from '../../../pty/launch/binary.ts';
import { acceptanceFixture, metricsFixture } from '../../promotion/support/evidence.ts';
import { TestDaemon } from '../../support/daemon.ts';
import { failingDaemonCommand } from '../../support/daemonFailpoints.ts';
import { daemonHome } from '../../support/daemonHome.ts';

export class MeteredDaemon extends TestDaemon {
  constructor() {
    super(daemonHome());
    this.measure(metricsFixture());
  }

  get #file(): string {
    return join(this.home.dir, 'metrics.json');
  }

  measure(report: MetricsReport): void {
    writeFileSync(this.#file, JSON.stringify(report));
  }

  override start(): Promise<this> {
    return super.start([...failingDaemonCommand(), '--metrics', this.#file]);
  }

  /** The stage, the codes of what keeps the repository from it, and the report that was made. */
  async lacks(to: 'comparing' | 'canary' | 'wide' | 'sole', path = this.home.repo) {
    const { code, exitCode, details = {} } = await this.refusal('promote.to', { path, to });
    const { blockers, reportId } = details as {
      readonly blockers: readonly {
        readonly code: string;
        readonly detail: string;
        readonly next: readonly string[];
      }[];
      readonly reportId?: string;
    };
    return { code, exitCode, blockers, codes: [...new Set(blockers.map((one) => one.code))], reportId };
  }
}

/** As an acceptance run of this very program on this host would hand it over, with everything passed. */
export async function acceptanceHere(): Promise<AcceptanceReport> {
  const report = acceptanceFixture();
  const digest = programDigest(fileURLToPath(new URL('../../../dist', import.meta.url)));
  const guardian = guardianDigest(await guardianBinary());
  return {
    ...report,
    program: { ...report.program, digest },
    host: { kernel: release(), guardianDigest: guardian },
  };
}

export function placeAt(path: string): Place {
  const { dev, ino, gitdir, born } = fileIdentityOf(path);
  return { path, dev, ino, gitdir, born };
}

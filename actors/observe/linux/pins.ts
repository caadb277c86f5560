import type { ProcessIdentity } from '../../../machines/identity.ts';
import type { SamplingContext } from './context.ts';
import { errnoOf } from './errno.ts';
import { type Eyes, lookAtPinnedStat, lookAtPinnedUid } from './look.ts';
import { isDefunct } from './stat.ts';
import { alive, ended, unknown, type Verdict } from './verdict.ts';

interface Pin {
  readonly stat: number;
  readonly status: number;
}

function keyOf(identity: ProcessIdentity): string {
  return `${identity.pid} ${identity.processToken}`;
}

/**
 * Open descriptors on `/proc/PID/stat` and `status` of processes that are looked at often. Such a descriptor belongs to one
 * process for good: after the process is reaped it answers ESRCH, also when the pid is taken again (case 54), so a look
 * costs two reads without any opening and needs no second opinion. Two descriptors each, so their number is bounded, and
 * who comes late is looked at by path: to give up another one for it would only open and close one in every pass. The
 * adapter closes all of them in `close()`.
 */
export class Pins {
  readonly #eyes: Eyes;
  readonly #limit: number;
  readonly #pins = new Map<string, Pin>();

  constructor(eyes: Eyes, limit: number) {
    this.#eyes = eyes;
    this.#limit = limit;
  }

  get size(): number {
    return this.#pins.size;
  }

  has(identity: ProcessIdentity): boolean {
    return this.#pins.has(keyOf(identity));
  }

  /** True when the identity is pinned now. False when it is gone already or there is no room: nothing depends on a pin. */
  pin(identity: ProcessIdentity): boolean {
    if (this.has(identity)) return true;
    if (this.#pins.size >= this.#limit) return false;
    const pin = this.#open(identity.pid);
    if (pin === undefined) return false;
    const stat = lookAtPinnedStat(this.#eyes, identity.pid, pin.stat);
    const status = lookAtPinnedUid(this.#eyes, pin.status);
    // Both were opened by path, so both must still live: then they were opened on one and the same process.
    if (typeof stat === 'string' || typeof status === 'string' || stat.start !== identity.processToken) {
      this.#close(pin);
      return false;
    }
    this.#pins.set(keyOf(identity), pin);
    return true;
  }

  unpin(identity: ProcessIdentity): void {
    const pin = this.#pins.get(keyOf(identity));
    if (pin === undefined) return;
    this.#pins.delete(keyOf(identity));
    this.#close(pin);
  }

  /** Undefined when this identity is not pinned. */
  sample(identity: ProcessIdentity, context: SamplingContext): Verdict | undefined {
    const pin = this.#pins.get(keyOf(identity));
    if (pin === undefined) return undefined;
    const verdict = this.#look(identity, pin, context);
    // A finished process needs no descriptors any more.
    if (verdict.result === 'ended' && verdict.reason === 'absent') this.unpin(identity);
    return verdict;
  }

  close(): void {
    for (const pin of this.#pins.values()) this.#close(pin);
    this.#pins.clear();
  }

  #look(identity: ProcessIdentity, pin: Pin, context: SamplingContext): Verdict {
    const uid = lookAtPinnedUid(this.#eyes, pin.status);
    const stat = lookAtPinnedStat(this.#eyes, identity.pid, pin.stat);
    if (uid === 'gone' || stat === 'gone') return ended('absent', 'pinned');
    if (typeof uid === 'string') return unknown(uid, 'pinned');
    if (typeof stat === 'string') return unknown(stat, 'pinned');
    if (stat.start !== identity.processToken) return unknown('malformed', 'pinned');
    if (isDefunct(stat)) return ended('defunct', 'pinned');
    return alive(identity, { stat, uid, strength: 'pinned' }, context);
  }

  #open(pid: number): Pin | undefined {
    const { proc, procRoot } = this.#eyes;
    let stat: number | undefined;
    try {
      stat = proc.open(`${procRoot}/${pid}/stat`);
      return { stat, status: proc.open(`${procRoot}/${pid}/status`) };
    } catch (error) {
      if (errnoOf(error) === '') throw error;
      if (stat !== undefined) proc.close(stat);
      return undefined;
    }
  }

  #close(pin: Pin): void {
    this.#eyes.proc.close(pin.stat);
    this.#eyes.proc.close(pin.status);
  }
}

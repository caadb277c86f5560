/** The containment checks: what each says of this host when it passes, in the order in which they begin. */
import type { Check } from './bench.ts';
import { carelessLauncher, closedGate, execFailure, simpleExit } from './checks/endings.ts';
import { daemonised, escapee } from './checks/escapes.ts';
import { exhausted } from './checks/exhaustion.ts';
import { hangUp } from './checks/hangUp.ts';
import { halfGuardian, lostGuardian, nested, wrongIdentity } from './checks/nested.ts';
import { hoppers, ignoresTerm, stopped } from './checks/stubborn.ts';

/** `short` takes a fraction of a second, for whoever waits for it; `full` is everything. */
export type Subset = 'short' | 'full';

interface ContainmentCheck {
  /** Also the name of the directory that it works in. */
  readonly id: string;
  /** The smallest subset that it belongs to. */
  readonly subset: Subset;
  readonly claim: string;
  readonly check: Check;
}

/** Raised whenever a check is added or made stricter: a contract of an older battery is verified again. */
export const batteryVersion = 3;

export const battery: readonly ContainmentCheck[] = [
  {
    id: 'exit',
    subset: 'short',
    claim: 'an exit receipt follows the end of a simple program',
    check: simpleExit,
  },
  {
    id: 'gate',
    subset: 'short',
    claim: 'a program whose gate stays shut never runs',
    check: closedGate,
  },
  {
    id: 'escapee',
    subset: 'short',
    claim: 'a child in its own session keeps the exit receipt back, and termination reaches it',
    check: escapee,
  },
  {
    id: 'daemon',
    subset: 'full',
    claim: 'a daemon (two forks, its own session, no descriptor, its parent gone) keeps the exit receipt back',
    check: daemonised,
  },
  {
    id: 'nested',
    subset: 'full',
    claim:
      'a guardian inside the tree of another one completes its receipts first, even while the outer one terminates',
    check: nested,
  },
  {
    id: 'lost-guardian',
    subset: 'full',
    claim: 'a guardian that is killed whole leaves no exit receipt, although everything ends: its loss is no proof',
    check: lostGuardian,
  },
  {
    id: 'half-guardian',
    subset: 'full',
    claim: 'a guardian of which one process is killed still leaves both receipts',
    check: halfGuardian,
  },
  {
    id: 'hang-up',
    subset: 'full',
    claim: 'a terminal that is hung up tells its program so, and the receipts follow',
    check: hangUp,
  },
  {
    id: 'exhaustion',
    subset: 'full',
    claim: 'without space for its receipts nothing is launched',
    check: exhausted,
  },
  {
    id: 'exec-failure',
    subset: 'full',
    claim: 'a program that cannot be executed is reported with the reason of the kernel',
    check: execFailure,
  },
  {
    id: 'launcher',
    subset: 'full',
    claim: 'what a launcher leaves open or ignores does not reach the program',
    check: carelessLauncher,
  },
  {
    id: 'identity',
    subset: 'full',
    claim: 'a signal for a process that is gone does not reach the one that has its number now',
    check: wrongIdentity,
  },
  {
    id: 'ignores-term',
    subset: 'full',
    claim: 'a program that ignores SIGTERM is asked first and ended afterwards',
    check: ignoresTerm,
  },
  {
    id: 'stopped',
    subset: 'full',
    claim: 'a stopped member is ended, too',
    check: stopped,
  },
  {
    id: 'hoppers',
    subset: 'full',
    claim: 'processes that hop from child to child are caught: nobody is ended before two scans agree',
    check: hoppers,
  },
];

export const doesNotCover: readonly string[] = [
  'work handed to a server that ran before: a tmux or screen server, a container daemon, D-Bus activation, at, cron, a build daemon',
  'work on another machine, reached over ssh or the network',
  'the loss of a guardian itself, both of its processes at once: what it guarded stays unverified unless the receipt of a scope around it, or a reboot, proves its end',
  'a hostile process of the same user, which can kill the guardian or rewrite files of this user',
  'memory and files that a process outside the tree shares with one inside',
  'what was not tried here, for want of a program that every host has: children made with another exit signal, a launcher that ignores SIGCHLD, a disk that is really full',
];

import { createHash } from 'node:crypto';
import { errnoOf, isGone, type Unreadable, unreadable } from './errno.ts';
import { type HidePid, parseProcMount } from './mountinfo.ts';
import type { ProcReader } from './proc.ts';
import { parseOwnStatus } from './status.ts';

/**
 * The conditions under which a sample was taken: which boot, which namespaces, what this procfs mount can hide from us.
 * The same bytes mean different things under different conditions, so every observation names the digest of its context,
 * and absence counts only when the context was the same before and after the look (OBS-05).
 */
export interface SamplingContext {
  readonly bootId: string;
  /** `pid:<inode>,time:<inode>`: start ticks and pids are comparable inside one such pair only (ID-06). */
  readonly namespace: string;
  readonly hidePid: HidePid;
  /** Every process is shown to us whatever hidePid says. */
  readonly seesAll: boolean;
  readonly uid: number;
  /** Pids run up to here in this namespace; a small space can reuse a pid inside one clock tick. */
  readonly pidMax: number;
  /** Which procfs instance is mounted; a remount in the middle of a pass shows here. */
  readonly mount: string;
  /** 32 hex digits over everything above. */
  readonly digest: string;
}

/** Why nothing can be observed at all at present. */
export interface ContextProblem {
  readonly problem: Unreadable | 'foreign_proc';
  readonly detail: string;
}

export type ContextResult = SamplingContext | ContextProblem;

export function isProblem(context: ContextResult): context is ContextProblem {
  return 'problem' in context;
}

export interface OwnProcess {
  readonly pid: number;
  /** Effective and supplementary groups. */
  readonly groups: readonly number[];
}

const BOOT_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\n$/;
const NAMESPACE_LINK = /^(pid|time):\[(\d+)\]$/;

class Unusable extends Error {
  readonly problem: ContextProblem['problem'];
  constructor(problem: ContextProblem['problem'], detail: string) {
    super(detail);
    this.problem = problem;
  }
}

export function readBootId(proc: ProcReader, procRoot: string): string {
  const text = proc.text(`${procRoot}/sys/kernel/random/boot_id`);
  if (!BOOT_ID.test(text)) throw new Unusable('malformed', 'boot_id is no UUID');
  return text.trimEnd();
}

function namespaceInode(proc: ProcReader, path: string): string {
  const match = NAMESPACE_LINK.exec(proc.link(path));
  if (match === null) throw new Unusable('malformed', `${path} is no namespace link`);
  return match[2]!;
}

/** The time namespace arrived in Linux 5.6; before it, there is one time and no link. */
function timeNamespace(proc: ProcReader, path: string): string {
  try {
    return namespaceInode(proc, path);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return '0';
    throw error;
  }
}

function readPidMax(proc: ProcReader, procRoot: string): number {
  const text = proc.text(`${procRoot}/sys/kernel/pid_max`);
  if (!/^\d+\n$/.test(text)) throw new Unusable('malformed', 'pid_max is no number');
  return Number(text);
}

/** The mount belongs to our own PID namespace rather than to one around it. */
function requireOwnProc(proc: ProcReader, procRoot: string) {
  const status = parseOwnStatus(proc.text(`${procRoot}/self/status`));
  if (status === undefined) throw new Unusable('malformed', 'own status lacks Uid, NSpid or CapEff');
  // Equal numbers in two namespaces are a coincidence that `self` alone cannot tell apart.
  if (status.pids.length !== 1) throw new Unusable('foreign_proc', 'procfs shows an outer PID namespace');
  return status;
}

/** A procfs of another PID namespace shows the kernel's files and no `self`; where nothing is mounted both are missing. */
function selfLink(proc: ProcReader, procRoot: string): string {
  try {
    return proc.link(`${procRoot}/self`);
  } catch (error) {
    if (!isGone(errnoOf(error))) throw error;
    readBootId(proc, procRoot);
    throw new Unusable('foreign_proc', `${procRoot}/self names nobody: procfs belongs to another PID namespace`);
  }
}

function collect(proc: ProcReader, procRoot: string, own: OwnProcess): SamplingContext {
  const self = selfLink(proc, procRoot);
  if (self !== String(own.pid)) throw new Unusable('foreign_proc', `${procRoot}/self is ${self}, not ${own.pid}`);
  const mount = parseProcMount(proc.text(`${procRoot}/self/mountinfo`), procRoot);
  if (mount === undefined)
    throw new Unusable('proc_unusable', `no procfs that we understand is mounted on ${procRoot}`);
  if (mount.pidsOnly) throw new Unusable('proc_unusable', `${procRoot} is mounted with subset=pid`);
  const status = requireOwnProc(proc, procRoot);
  const facts = {
    bootId: readBootId(proc, procRoot),
    namespace: `pid:${namespaceInode(proc, `${procRoot}/self/ns/pid`)},time:${timeNamespace(proc, `${procRoot}/self/ns/time`)}`,
    hidePid: mount.hidePid,
    seesAll: status.maySeeOthers || (mount.hidePid === 'invisible' && own.groups.includes(mount.gid)),
    uid: status.uid,
    pidMax: readPidMax(proc, procRoot),
    mount: mount.instance,
  };
  return { ...facts, digest: createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, 32) };
}

/** Reads the context anew: seven small files, once per batch and once more before absence is believed. */
export function readContext(proc: ProcReader, procRoot: string, own: OwnProcess): ContextResult {
  try {
    return collect(proc, procRoot, own);
  } catch (error) {
    if (error instanceof Unusable) return { problem: error.problem, detail: error.message };
    const code = errnoOf(error);
    if (code === '') throw error;
    return { problem: isGone(code) ? 'proc_unusable' : unreadable(code), detail: (error as Error).message };
  }
}

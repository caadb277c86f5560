/**
 * The commands that the daemon understands: POST /v1/call/<command> with these arguments as a JSON body answers a
 * `Reply`; POST /v1/stream/<command> answers newline-delimited JSON. One schema validates, types and documents each.
 * The command line imports types from here only, so that it starts without loading a validator.
 */
import { z } from 'zod';
import { residentSchema } from '../../../machines/events/scope.ts';
import { bootIdSchema } from '../../../machines/identity.ts';
import { legacyBatch, legacyRecordSchema, toolSchema } from '../../../machines/legacyRecord.ts';
import { noteSchema, producerSchema, runNameSchema, streamSchema } from '../../../machines/note.ts';
import { stages } from '../../../persistence/tables/promotions.ts';
import { acceptanceReportSchema } from '../../promotion/acceptanceSchema.ts';
import { budgetNames } from '../../promotion/budgetDefinitions.ts';
import { outcomes } from '../../promotion/comparison.ts';
import { grantable } from '../../runtime/credentials.ts';

const id = z.string().min(1).max(64);
const requestId = z.string().min(1).max(128).optional();
const absolutePath = z.string().min(1).max(4096).startsWith('/');
const durationMs = z.int().min(0).max(86_400_000);
/** Not `z.record`, which drops a variable named `__proto__` without a word. */
const environment = z.custom<Readonly<Record<string, string>>>(
  isEnvironment,
  'must hold names without = and NUL, and values that are text',
);
const revision = z.int().min(0).optional();
/** One stream of notes (machines/note.ts). */
const streamName = { producer: producerSchema, stream: streamSchema };
const size = { cols: z.int().min(1).max(1_000), rows: z.int().min(1).max(1_000) };
/** Names a subsystem that controls worktrees, or an executor. */
const controller = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'lower case letters, digits, and . _ - between');
/** What somebody says of a run, in the words of comparison.ts; `producer` where `run` is that launcher's own name for it. */
const told = z.strictObject({
  run: runNameSchema,
  producer: producerSchema.optional(),
  outcome: z.enum(outcomes),
  /** Wall-clock milliseconds. */
  atMs: z.int().min(0),
});
/** The session that an agent speaks for, with the token that it was launched with (ruling 24). */
const session = z.strictObject({ sessionId: id, token: z.string().min(1).max(128) });

function isEnvironment(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.entries(value).every(([name, text]) => /^[^=\0]+$/.test(name) && typeof text === 'string');
}

export const callSchemas = {
  status: z.strictObject({}),
  'repos.add': z.strictObject({ path: absolutePath, requestId }),
  'repos.list': z.strictObject({}),
  'goals.add': z.strictObject({
    title: z.string().trim().min(1).max(500),
    /** Path of the repository or of any directory inside it. */
    repo: absolutePath,
    request: z.string().max(4_194_304).optional(),
    nodeId: id.optional(),
    priority: z.int().min(-1000).max(1000).default(0),
    queue: z.boolean().default(false),
    requestId,
  }),
  'goals.list': z.strictObject({
    status: z.string().optional(),
    nodeId: id.optional(),
    blocked: z.boolean().optional(),
  }),
  'goals.show': z.strictObject({ id, evidence: z.boolean().optional(), history: z.boolean().optional() }),
  'goals.queue': z.strictObject({ id, expectRevision: revision, requestId }),
  'goals.cancel': z.strictObject({
    id,
    reason: z.string().max(500).default(''),
    waitMs: durationMs.optional(),
    requestId,
  }),
  'worktrees.add': z.strictObject({
    goalId: id,
    branch: z.string().min(1).max(200).optional(),
    base: z.string().min(1).max(200).default('HEAD'),
    path: absolutePath.optional(),
    requestId,
  }),
  'worktrees.list': z.strictObject({ goalId: id.optional(), all: z.boolean().optional() }),
  'worktrees.show': z.strictObject({ id }),
  'worktrees.close': z.strictObject({ id, requestId }),
  'worktrees.seal': z.strictObject({ id, requestId }),
  /** Watches a worktree that exists; nothing of it is touched. */
  'worktrees.register': z.strictObject({ path: absolutePath, controller: controller.default('legacy'), requestId }),
  'worktrees.authority': z.strictObject({
    id,
    change: z.enum(['grant', 'migrate', 'handoff', 'abandon']),
    /** What taking over rests on, by reference. */
    evidence: z.array(z.string().trim().min(1).max(512)).max(64).default([]),
    /** Who is to control it after a handoff. */
    to: controller.optional(),
    expectVersion: z.int().min(1).optional(),
    requestId,
  }),
  'worktrees.ticket': z.strictObject({ id, executor: controller, expiresMs: durationMs.min(1).optional(), requestId }),
  /** `receipt` is what the executor wrote. */
  'worktrees.retire': z.strictObject({ id, receipt: z.string().max(65_536), requestId }),
  /** Whether it could be cleaned up, as far as can be told at this moment; nothing is moved by it. */
  'worktrees.predict': z.strictObject({
    id,
    /** Whether processes are looked for that have to do with the directory; without it the answer is never yes. */
    processes: z.boolean().default(true),
    /** Processes of this user that nobody may look into (agents for keys, sessions of ssh) are counted and protect nothing. */
    allowUnseen: z.boolean().default(false),
    /** Ignored files protect as well. */
    ignored: z.boolean().default(false),
    /** For each question to git. */
    limitMs: durationMs.min(100).default(30_000),
  }),
  'runs.exec': z.strictObject({
    goalId: id,
    generationId: id.optional(),
    argv: z.array(z.string().max(131_072)).min(1).max(10_000),
    env: environment,
    /** Relative to the worktree; it may not leave it. */
    cwd: z.string().max(4096).optional(),
    umask: z.int().min(0).max(0o777).default(0o022),
    label: z.string().max(200).optional(),
    onRootExit: z.enum(['terminate', 'wait']).optional(),
    /** Processes that may outlive the root, by command name; the scope then waits for the others alone. */
    residents: z.array(residentSchema).max(16).optional(),
    graceMs: durationMs.optional(),
    budgetMs: durationMs.optional(),
    /** Hard deadline: the scope is drained when it passes. */
    timeoutMs: durationMs.optional(),
    /** Standard input, base64; absent means /dev/null. */
    stdin: z.base64().optional(),
    /** Runs in a terminal of its own, which no standard input goes with. */
    terminal: z
      .strictObject({
        ...size,
        term: z
          .string()
          .regex(/^[A-Za-z0-9.+_-]{1,64}$/)
          .default('xterm-256color'),
        /** Longest silence, and longest time to the first output. */
        idleMs: durationMs.min(1).optional(),
        startupMs: durationMs.min(1).optional(),
        /** Whether what it says is written to the disk; as configured where absent. */
        recorded: z.boolean().optional(),
        /** JSON Schema that `agent result` has to fit. */
        resultSchema: z.record(z.string(), z.unknown()).optional(),
        /** What its token may be used for besides the agent verbs of its own Goal (ruling 24). */
        grants: z.array(z.enum(grantable)).max(grantable.length).optional(),
      })
      .optional(),
    requestId,
  }),
  'runs.list': z.strictObject({
    active: z.boolean().optional(),
    unresolved: z.boolean().optional(),
    goalId: id.optional(),
    limit: z.int().min(1).max(1000).default(100),
  }),
  'runs.show': z.strictObject({ id }),
  /** Returns when the run's lifecycle is terminal (`until: ended`) or its scope is proved (`until: proved`); exit 14 on time-out. */
  'runs.wait': z.strictObject({
    id,
    until: z.enum(['ended', 'proved']).default('ended'),
    waitMs: durationMs.optional(),
  }),
  /** One captured stream, parsed as JSON; refused unless it is known to be complete. */
  'runs.result': z.strictObject({ id, stream: z.enum(['stdout', 'stderr']).default('stdout') }),
  'runs.stop': z.strictObject({
    id,
    graceMs: durationMs.optional(),
    budgetMs: durationMs.optional(),
    waitMs: durationMs.optional(),
    requestId,
  }),
  'sessions.list': z.strictObject({ all: z.boolean().optional(), goalId: id.optional() }),
  'sessions.show': z.strictObject({ id }),
  /** What its agent has reported, as it was given; refused unless it counts. */
  'sessions.result': z.strictObject({ id }),
  'sessions.send': z.strictObject({
    id,
    /** Base64: input is bytes. It is written and never stored (PTY-08). */
    bytes: z.base64().max(5_600_000),
    /** Sent in their place to a program that has the cursor keys in application mode (DECCKM). */
    applicationBytes: z.base64().max(5_600_000).optional(),
    /** `auto` brackets the text for a program that asked for it (DECSET 2004); `never` sends the bytes as they are. */
    paste: z.enum(['auto', 'always', 'never']).default('auto'),
    enter: z.boolean().default(false),
    requestId,
  }),
  'sessions.resize': z.strictObject({ id, ...size, requestId }),
  'sessions.screen': z.strictObject({ id }),
  /** Exit 14 when it does not come to pass within `waitMs`. */
  'sessions.wait': z.strictObject({
    id,
    until: z.discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('text'), text: z.string().min(1).max(4_096) }),
      z.strictObject({ kind: z.literal('regex'), regex: z.string().min(1).max(1_024) }),
      z.strictObject({ kind: z.literal('quiet'), quietMs: durationMs.min(1) }),
      z.strictObject({ kind: z.literal('exit') }),
    ]),
    waitMs: durationMs.min(1).optional(),
  }),
  /** `result` is JSON text, at most as large as `payloadMaxBytes` times 64. */
  'agent.result': z.strictObject({ session, result: z.string().max(1_048_576) }),
  /** Kept as one word: what is neither letter nor digit becomes an underscore. */
  'agent.needInput': z.strictObject({ session, reason: z.string().max(500).default('question') }),
  'agent.boundary': z.strictObject({ session, name: z.string().min(1).max(64) }),
  'agent.goal': z.strictObject({ session }),
  /** `released`: also what is proved exited. `all`: a census of this machine besides, for this moment. */
  processes: z.strictObject({ all: z.boolean().optional(), released: z.boolean().optional() }),
  /** What follows `since`; without it the newest, in order all the same. */
  events: z.strictObject({
    since: z.int().min(0).optional(),
    actor: id.optional(),
    type: z.string().optional(),
    limit: z.int().min(1).max(1000).default(200),
  }),
  /** How the scheduling worker is replaced: `now` tries again at once what is refused, and waits for what comes of it. */
  recover: z.strictObject({ now: z.boolean().default(false), waitMs: durationMs.optional() }),
  /** Any actor, by its id or the beginning of it. */
  explain: z.strictObject({ id }),
  doctor: z.strictObject({}),
  config: z.strictObject({}),
  backup: z.strictObject({ to: absolutePath }),
  /** Runs the containment battery on this host and records it (PROMO-06, ruling 15). */
  /** The last resort for a scope that nothing can prove any more; both confirmations are typed by whoever answers for it. */
  'recover.assumeEnded': z.strictObject({
    scopeId: id,
    because: z.string().trim().min(1).max(500),
    confirm: z.strictObject({ scopeId: z.string().max(64), text: z.string().max(64) }).optional(),
    requestId,
  }),
  'contract.verify': z.strictObject({}),
  /** Shortens the journal; with `dryRun` only says how. */
  'journal.checkpoint': z.strictObject({ dryRun: z.boolean().default(false) }),
  /** Forgets the event ids that all but the newest starts of the daemon have numbered; a repeat of one is refused then. */
  'journal.forgetIds': z.strictObject({
    keepStarts: z.int().min(1).max(1_000_000),
    dryRun: z.boolean().default(false),
  }),
  /** Removes files of what is proved to be over for so long; without `ageHours` as configured. */
  'artifacts.retire': z.strictObject({
    ageHours: z.int().min(0).max(1_000_000).optional(),
    dryRun: z.boolean().default(false),
  }),
  pause: z.strictObject({ requestId }),
  resume: z.strictObject({ requestId }),
  /** Ends everything that is owned; the daemon stays. Refused (exit 6) when something is not proved within `waitMs`. */
  drain: z.strictObject({ graceMs: durationMs.optional(), waitMs: durationMs.optional(), requestId }),
  /**
   * keepWork: only the daemon ends, everything else goes on and is adopted (ruling 21). `verb` says what the caller, or the
   * service manager (`via`), does afterwards; without `via` it is whoever has started this daemon.
   */
  'daemon.stop': z.strictObject({
    keepWork: z.boolean().default(false),
    verb: z.enum(['stop', 'restart']).default('stop'),
    via: z.enum(['direct', 'service']).optional(),
    requestId,
  }),
  'observe.progress': z.strictObject(streamName),
  'observe.take': z.strictObject({ notes: z.array(noteSchema).max(100) }),
  'observe.account': z.strictObject({
    ...streamName,
    taken: z.int().min(0),
    losses: z
      .array(
        z.strictObject({
          firstSeq: z.int().positive(),
          lastSeq: z.int().positive(),
          fromWallMs: z.int().min(0),
          toWallMs: z.int().min(0),
          bootId: bootIdSchema,
        }),
      )
      .max(10_000),
    lastNoteWallMs: z.int().min(0),
  }),
  'observe.import': z.strictObject({
    tool: toolSchema,
    records: z.array(legacyRecordSchema).max(legacyBatch),
    dryRun: z.boolean().default(false),
  }),
  'observe.takeSpool': z.strictObject({ maxCount: z.int().positive() }),
  'observe.reconcile': z.strictObject({ maxMs: z.int().positive().max(60_000), maxCount: z.int().positive() }),
  'observe.status': z.strictObject({}),
  'observe.coverage': z.strictObject({ all: z.boolean().default(false) }),
  'observe.metrics': z.strictObject({ sinceMs: z.int().min(0) }),
  /** What GET /metrics answers as well. */
  'observe.exposition': z.strictObject({}),
  /** The stage of the repository that holds `path`, and what the next one needs. */
  'promote.show': z.strictObject({ path: absolutePath }),
  'promote.to': z.strictObject({
    path: absolutePath,
    to: z.enum(stages),
    expectVersion: z.int().min(0).optional(),
    dryRun: z.boolean().default(false),
    requestId,
  }),
  'promote.budgets': z.strictObject({}),
  /** Sets the budgets to what was measured here, times `factor`; refused while there are too few values. */
  'promote.measure': z.strictObject({ factor: z.number().min(1).max(100).default(2) }),
  'promote.setBudgets': z.strictObject({
    values: z
      .array(z.strictObject({ name: z.enum(budgetNames), value: z.number().min(0).max(Number.MAX_SAFE_INTEGER) }))
      .min(1)
      .max(budgetNames.length),
  }),
  /** What another system says became of runs, beside what was derived here (PROMO-03). */
  'promote.compare': z.strictObject({
    path: absolutePath,
    outcomes: z.array(told).max(10_000).default([]),
    /** What somebody has verified independently of both. */
    verified: z.array(told).max(10_000).default([]),
  }),
  'promote.triage': z.strictObject({
    id,
    verdict: z.enum(['ours_wrong', 'theirs_wrong', 'undecided']),
    note: z.string().trim().min(1).max(2_000),
  }),
  /** Keeps what an acceptance run of this very program on this host has observed (PROMO-08). */
  'acceptance.record': z.strictObject({ report: acceptanceReportSchema }),
  /** A page on 127.0.0.1 that shows everything, and changes nothing without `control`. */
  'inspect.open': z.strictObject({
    /** Absent or 0: where it is already, or whichever is free. */
    tcpPort: z.int().min(0).max(65_535).optional(),
    control: z.boolean().default(false),
    /** Pages of others that may read the inspection protocol. */
    allowOrigins: z
      .array(z.string().regex(/^https?:\/\/[^/?#\s]{1,255}$/, 'scheme://host[:port]'))
      .max(16)
      .default([]),
  }),
  'inspect.close': z.strictObject({}),
} as const;

export const streamSchemas = {
  /** Lines are EventView. */
  'events.follow': z.strictObject({
    since: z.int().min(0).default(0),
    actor: id.optional(),
    type: z.string().optional(),
  }),
  /** Lines are {stream, data: base64} … and one last {end: CaptureView[]}. With follow the end comes when the scope is proved, or (`until: ended`) after the final drain that follows the root's end. */
  'runs.logs': z.strictObject({
    id,
    stream: z.enum(['stdout', 'stderr', 'both']).default('both'),
    follow: z.boolean().default(false),
    until: z.enum(['ended', 'proved']).default('ended'),
    tailBytes: z.int().min(0).optional(),
  }),
} as const;

export type CallName = keyof typeof callSchemas;
export type StreamName = keyof typeof streamSchemas;
export type CallArguments<Name extends CallName> = z.input<(typeof callSchemas)[Name]>;
export type ParsedArguments<Name extends CallName> = z.output<(typeof callSchemas)[Name]>;
export type StreamArguments<Name extends StreamName> = z.input<(typeof streamSchemas)[Name]>;

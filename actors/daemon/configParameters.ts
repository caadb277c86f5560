/**
 * The parameters of section 0.2 that something in this program goes by, each with its unit, bounds and meaning. A bound
 * is part of the meaning: Node fires a timer of more than 2^31 - 1 ms at once, and SQLite's wait holds the whole process.
 */

export interface NumberParameter {
  readonly default: number;
  readonly unit: string;
  readonly minimum: number;
  readonly maximum: number;
  readonly description: string;
}

export interface ChoiceParameter {
  readonly default: string;
  readonly unit: null;
  readonly choices: readonly string[];
  readonly description: string;
}

/** Command lines by the absolute path of a repository; `*` is for every other one. */
export type CommandTable = Readonly<Record<string, readonly string[]>>;

export interface CommandsParameter {
  readonly default: CommandTable;
  readonly unit: null;
  readonly commands: true;
  readonly description: string;
}

export interface TextParameter {
  readonly default: string;
  readonly unit: null;
  readonly longest: number;
  readonly description: string;
}

export type Parameter = NumberParameter | ChoiceParameter | CommandsParameter | TextParameter;

const second = 1_000;
const minute = 60 * second;
/** What the API and the guardian take at most for a grace or a budget. */
const day = 24 * 60 * minute;
const mebibyte = 1_048_576;

const noCommands: CommandTable = {};

export const parameters = {
  capacity: {
    default: 8,
    unit: 'slots',
    minimum: 1,
    maximum: 10_000,
    description: 'How many scopes may hold a slot at once.',
  },
  handshakeMs: {
    default: 5 * second,
    unit: 'ms',
    minimum: 100,
    maximum: 10 * minute,
    description:
      'How long a guardian may take to report its identities; it closes its gate by itself after twice this.',
  },
  onRootExit: {
    default: 'terminate',
    unit: null,
    choices: ['terminate', 'wait'],
    description: 'What happens to what a root leaves behind: terminate drains it, wait keeps the scope live.',
  },
  graceMs: {
    default: 500,
    unit: 'ms',
    minimum: 0,
    maximum: day,
    description: 'Time between SIGTERM and the freeze of a drain.',
  },
  drainBudgetMs: {
    default: 2 * second,
    unit: 'ms',
    minimum: 100,
    maximum: day,
    description: 'Time that one scope has to drain before it counts as stalled.',
  },
  shutdownBudgetMs: {
    default: 30 * second,
    unit: 'ms',
    minimum: second,
    maximum: day,
    description: 'Time that a whole shutdown has.',
  },
  observeIntervalMs: {
    default: second,
    unit: 'ms',
    minimum: 50,
    maximum: 10 * minute,
    description: 'Pause between two passes of the observation lane.',
  },
  reconcileBatch: {
    default: 64,
    unit: 'identities',
    minimum: 1,
    maximum: 10_000,
    description: 'Identities sampled in one batch.',
  },
  reconcileTimeMs: {
    default: 200,
    unit: 'ms',
    minimum: 1,
    maximum: minute,
    description: 'Time budget of one observation pass.',
  },
  freshnessRowMs: {
    default: second,
    unit: 'ms',
    minimum: 0,
    maximum: minute,
    description: 'How often it is written down when the processes of observed runs were last looked at.',
  },
  responseMs: {
    default: 250,
    unit: 'ms',
    minimum: 10,
    maximum: minute,
    description: 'How long a guardian may take to answer before it is shown as unresponsive; that moves nothing.',
  },
  checks: {
    default: noCommands,
    unit: null,
    commands: true,
    description:
      'The check of each repository, by its path or * for all: a command line that the scheduling worker runs for queued Goals.',
  },
  checkTimeoutMs: {
    default: 30 * minute,
    unit: 'ms',
    minimum: 100,
    maximum: day,
    description: 'How long a configured check may take before it is ended.',
  },
  tickIntervalMs: {
    default: 500,
    unit: 'ms',
    minimum: 20,
    maximum: minute,
    description: 'How often the scheduling worker says that it is alive and looks for work.',
  },
  silenceMs: {
    default: 30 * second,
    unit: 'ms',
    minimum: 100,
    maximum: day,
    description: 'How long the scheduling worker may be silent before it is ended and, once proved gone, replaced.',
  },
  startupMs: {
    default: 30 * second,
    unit: 'ms',
    minimum: 100,
    maximum: day,
    description: 'How long it may take from its launch to its first sign of life.',
  },
  retryBackoffMs: {
    default: second,
    unit: 'ms',
    minimum: 10,
    maximum: 10 * minute,
    description: 'Pause after a failure; it doubles with every further one, up to retryBackoffLongestMs.',
  },
  retryBackoffLongestMs: {
    default: 5 * minute,
    unit: 'ms',
    minimum: 10,
    maximum: day,
    description: 'The longest pause between two attempts.',
  },
  sqliteBusyMs: {
    default: 250,
    unit: 'ms',
    minimum: 0,
    maximum: 5 * second,
    description: 'How long a write waits for a foreign lock on the database; the daemon does nothing else meanwhile.',
  },
  payloadMaxBytes: {
    default: 16_384,
    unit: 'bytes',
    minimum: 2_048,
    maximum: mebibyte,
    description: 'The longest payload of an event; a longer one is refused as invalid_event.',
  },
  finalDrainMs: {
    default: 200,
    unit: 'ms',
    minimum: 0,
    maximum: minute,
    description: 'How long a call waits for more output of descendants once the root has ended and they are silent.',
  },
  captureJoinMs: {
    default: 700,
    unit: 'ms',
    minimum: 0,
    maximum: minute,
    description: 'How long it waits for them in all; the record of the run stays open longer.',
  },
  captureMemoryBytes: {
    default: 16 * mebibyte,
    unit: 'bytes',
    minimum: 1,
    maximum: 512 * mebibyte,
    description: 'How much of a captured stream is read into memory; a longer one is no result. The file has no limit.',
  },
  transcriptMaxBytes: {
    default: 256 * mebibyte,
    unit: 'bytes',
    minimum: 32 * mebibyte,
    maximum: 1_024 * 1_024 * mebibyte,
    description: 'How much of what a terminal says is kept; older output is dropped, and said to be.',
  },
  transcripts: {
    default: 'keep',
    unit: null,
    choices: ['keep', 'none'],
    description: 'Whether what terminals say is written to the disk; none keeps it in memory while they are held.',
  },
  workGroup: {
    default: 'auto',
    unit: null,
    choices: ['auto', 'none'],
    description:
      "Whether guardians get a control group beside the daemon's, where one can be made; limits of its group do not hold there.",
  },
  serviceManager: {
    default: 'systemctl',
    unit: null,
    longest: 4_096,
    description: 'The program that speaks to the service manager, a path or a name in PATH; it is called with --user.',
  },
  journalRows: {
    default: 200_000,
    unit: 'events',
    minimum: 1_000,
    maximum: 1_000_000_000,
    description: 'How many events the journal may hold before the daemon shortens it, a little at a time.',
  },
  journalNewestEvents: {
    default: 8,
    unit: 'events',
    minimum: 1,
    maximum: 1_000,
    description: 'How many of the newest events of each Goal, run, scope and the like stay in the journal in any case.',
  },
  journalAgeHours: {
    default: 7 * 24,
    unit: 'hours',
    minimum: 0,
    maximum: 1_000_000,
    description: 'How old an event has to be before it may leave the journal.',
  },
  journalStepRows: {
    default: 500,
    unit: 'events',
    minimum: 1,
    maximum: 10_000,
    description: 'How many events one step of a checkpoint looks at; other writes wait for one step at most.',
  },
  journalStepMs: {
    default: 20,
    unit: 'ms',
    minimum: 1,
    maximum: second,
    description: 'How long one step of a checkpoint may take, its commit left out.',
  },
  artifacts: {
    default: 'keep',
    unit: null,
    choices: ['keep', 'retire'],
    description:
      'Whether output, transcripts, results and receipts of what is proved to be over are removed after artifactAgeHours.',
  },
  artifactAgeHours: {
    default: 30 * 24,
    unit: 'hours',
    minimum: 0,
    maximum: 1_000_000,
    description: 'How long ago the proof has to be, before the files that it released are removed.',
  },
  logMaxBytes: {
    default: 5 * mebibyte,
    unit: 'bytes',
    minimum: 65_536,
    maximum: 1_024 * mebibyte,
    description: 'Size at which the daemon log is rotated.',
  },
} as const satisfies Record<string, Parameter>;

export type Parameters = typeof parameters;

/** FAULT-08: everything that can be wrong with the database, and every command of the observer that writes it. */
import { cpSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { calendarClock } from '../../../actors/daemon/calendarClock.ts';
import { connect } from '../../../persistence/connection.ts';
import { openStore } from '../../../persistence/store.ts';
import { eventually } from '../../demo/expectation.ts';
import { workplace } from '../../drill/drill.ts';
import { failureOf } from '../../failure.ts';
import { workloadEnvironment } from '../../launchEnvironment.ts';
import { type Prefix, privateMounts } from '../namespaces.ts';
import { type Observed, ObserverPlace } from '../observerPlace.ts';
import { claim, type Judgement, notRun, row, type Trying } from '../row.ts';
import { subject } from '../subject.ts';

export interface Refusal {
  readonly code: number;
  readonly error: string | undefined;
}

export interface Condition {
  readonly name: string;
  /** Codes that say what is wrong, and the exit status that goes with them. */
  readonly expected: readonly string[];
  readonly exitCodes: readonly number[];
  readonly refusals: readonly Refusal[];
  /** Once it is over the same command has done what it was asked for. */
  readonly recovered: boolean;
}

export interface RefusingStore {
  /** A sentence where a condition could not be made here. */
  readonly conditions: readonly (Condition | string)[];
  /** The database was not there any more: notes that the new one calls lost, and those that were in the old one. */
  readonly vanished: { readonly lost: number; readonly known: number };
  readonly flips: {
    readonly bits: number;
    /** Refused by name; answered, with the damage told or without any effect; wrong without a word. */
    readonly refused: number;
    readonly told: number;
    readonly harmless: number;
    readonly silent: number;
    readonly unnamed: number;
  };
}

const flippedBits = 12;

async function observe(trying: Trying): Promise<RefusingStore> {
  const conditions = [
    await locked(trying),
    await held(trying),
    await damaged(trying),
    await full(trying),
    await readOnly(trying),
    await lockedBeside(trying),
  ];
  return { conditions, vanished: await vanished(trying), flips: await flipped(trying) };
}

/** With a process that is looked at, and a note that waits. */
async function furnished(trying: Trying, name: string): Promise<ObserverPlace> {
  const place = new ObserverPlace(trying, name);
  const { pid } = await subject(trying);
  await place.note('bind', 'first', '--pid', String(pid));
  await place.observe(['reconcile']);
  await place.note('reserve', 'second');
  return place;
}

const refusalOf = ({ code, error }: Observed): Refusal => ({ code, error });

const file = (place: ObserverPlace): string => join(place.stateDir, 'custody.db');

/** Every command that writes, as it is refused while the condition stands. */
async function refusals(place: ObserverPlace, prefix: Prefix = []): Promise<Refusal[]> {
  const options = { prefix };
  const input = place.spooled('shell').join('');
  return [
    refusalOf(await place.observe(['ingest'], options)),
    refusalOf(await place.observe(['reconcile'], options)),
    refusalOf(await place.observe(['ingest', '-'], { ...options, input })),
  ];
}

async function hasRecovered(place: ObserverPlace): Promise<boolean> {
  const { code, data } = await place.observe(['ingest']);
  return code === 0 && data?.counts.changed === 1 && data.lost === 0;
}

async function locked(trying: Trying): Promise<Condition> {
  const place = await furnished(trying, 'locked');
  const other = connect(file(place));
  other.exec('BEGIN IMMEDIATE');
  const seen = await refusals(place);
  other.exec('ROLLBACK');
  other.close();
  const recovered = await hasRecovered(place);
  return { name: 'locked by another program', expected: ['store_busy'], exitCodes: [10], refusals: seen, recovered };
}

async function held(trying: Trying): Promise<Condition> {
  const place = await furnished(trying, 'held');
  const other = openStore({ stateDir: place.stateDir, clock: calendarClock, create: false });
  const seen = await refusals(place);
  other.close();
  const recovered = await hasRecovered(place);
  return { name: 'held by another observer', expected: ['runtime_busy'], exitCodes: [7], refusals: seen, recovered };
}

async function damaged(trying: Trying): Promise<Condition> {
  const place = await furnished(trying, 'damaged');
  const whole = readFileSync(file(place));
  writeFileSync(file(place), Buffer.from(whole).fill(0x55, 0, 64));
  const seen = await refusals(place);
  writeFileSync(file(place), whole);
  const recovered = await hasRecovered(place);
  return { name: 'with a damaged header', expected: ['store_corrupt'], exitCodes: [9], refusals: seen, recovered };
}

/** `$0` is the state directory; it is copied to a small disk of its own, which is then filled. */
const fullScript = `kept=$(mktemp -d) && mount -t tmpfs -o mode=0700 none "$kept" && cp -a "$0/." "$kept/" &&
mount -t tmpfs -o size=1m,mode=0700 none "$0" && cp -a "$kept/." "$0/" || exit 91
head -c 8m /dev/zero > "$0/ballast" 2> /dev/null
exec "$@"`;

/** Without private mounts: no file may become larger than a kilobyte, which is what a full disk comes to. */
const limitedScript = 'trap \'\' XFSZ; ulimit -f 2 && exec "$@"';

async function full(trying: Trying): Promise<Condition> {
  const place = await furnished(trying, 'full');
  const mounts = await privateMounts(trying.scratch.env);
  const prefix =
    mounts === undefined ? ['sh', '-c', limitedScript, 'sh'] : [...mounts, 'sh', '-c', fullScript, place.stateDir];
  const seen = await refusals(place, prefix);
  const name = mounts === undefined ? 'under a limit of file sizes' : 'on a full disk';
  const recovered = await hasRecovered(place);
  return { name, expected: ['store_full', 'store_io'], exitCodes: [10], refusals: seen, recovered };
}

const readOnlyScript = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" || exit 91; exec "$@"';

async function readOnly(trying: Trying): Promise<Condition | string> {
  const mounts = await privateMounts(trying.scratch.env);
  if (mounts === undefined) return 'read-only: not run: this user may have no private namespaces here (unshare)';
  const place = await furnished(trying, 'read-only');
  const seen = await refusals(place, [...mounts, 'sh', '-c', readOnlyScript, place.stateDir]);
  const recovered = await hasRecovered(place);
  return { name: 'read-only', expected: ['store_readonly'], exitCodes: [9], refusals: seen, recovered };
}

/** The daemon has the store, and another program writes in it: its commands are deferred, and done afterwards. */
async function lockedBeside(trying: Trying): Promise<Condition> {
  const { installation, repository, scratch, interruption } = trying;
  const { goalId, generationId } = await workplace(trying, 'a busy store');
  const added = { title: 'while it was busy', repo: repository, request: 'x\n', requestId: 'while-it-was-busy' };
  const launch = { goalId, argv: ['true'], env: workloadEnvironment(process.env, []) };
  const other = connect(join(scratch.places.stateDir, 'custody.db'));
  other.exec('BEGIN IMMEDIATE');
  const calls = [
    () => installation.call('goals.add', added),
    () => installation.call('runs.exec', launch),
    () => installation.call('worktrees.close', { id: generationId }),
    () => installation.call('goals.cancel', { id: goalId }),
    () => installation.call('pause', {}),
  ];
  const seen: Refusal[] = [];
  for (const call of calls) {
    const refusal = await call().then(() => undefined, failureOf);
    seen.push({ code: refusal?.exitCode ?? 0, error: refusal?.code });
  }
  other.exec('ROLLBACK');
  other.close();
  const isOpen = async () => (await installation.call('status', {})).admission === 'open';
  await eventually(interruption.signal, 'the daemon launches again', isOpen);
  const { title } = await installation.call('goals.add', added);
  const recovered = title === added.title;
  return { name: 'locked while a daemon serves', expected: ['store_busy'], exitCodes: [10], refusals: seen, recovered };
}

async function vanished(trying: Trying): Promise<RefusingStore['vanished']> {
  const place = new ObserverPlace(trying, 'vanished-store');
  for (const run of ['a', 'b', 'c']) await place.note('reserve', run);
  await place.observe(['ingest']);
  renameSync(file(place), join(trying.scratch.dir, 'vanished.db'));
  await place.note('reserve', 'd');
  const { data } = await place.observe(['ingest']);
  return { lost: data?.lost ?? 0, known: 3 };
}

async function flipped(trying: Trying): Promise<RefusingStore['flips']> {
  const { random } = trying;
  const place = await furnished(trying, 'flipped');
  const sound = await place.observe(['status']);
  const whole = readFileSync(file(place));
  const seen = { refused: 0, told: 0, harmless: 0, silent: 0, unnamed: 0 };
  for (let nth = 0; nth < flippedBits; nth += 1) {
    const copy = new ObserverPlace(trying, `flipped-${nth}`);
    cpSync(place.stateDir, copy.stateDir, { recursive: true });
    for (const suffix of ['-wal', '-shm']) rmSync(file(copy) + suffix, { force: true });
    const bytes = Buffer.from(whole);
    const at = random.below(bytes.length);
    bytes[at] = bytes[at]! ^ (1 << random.below(8));
    writeFileSync(file(copy), bytes);
    seen[effectOf(await copy.observe(['status']), sound)] += 1;
  }
  return { bits: flippedBits, ...seen };
}

function effectOf(
  { code, error, data }: Observed,
  sound: Observed,
): 'refused' | 'told' | 'harmless' | 'silent' | 'unnamed' {
  if (code !== 0) return error === undefined || error === 'internal_error' ? 'unnamed' : 'refused';
  if ((data?.runs.unreadable ?? 0) > 0) return 'told';
  return JSON.stringify(data?.runs) === JSON.stringify(sound.data?.runs) ? 'harmless' : 'silent';
}

export function judgeRefusingStore({ conditions, vanished: gone, flips }: RefusingStore): Judgement {
  const { bits, refused, told, harmless, silent, unnamed } = flips;
  return {
    claims: [
      ...conditions.map((condition) => (typeof condition === 'string' ? notRun(condition) : judged(condition))),
      claim(
        `gone: a new one is begun, which calls ${gone.lost} of ${gone.known} notes lost that the old one knew`,
        gone.lost >= gone.known,
      ),
      claim(
        `${bits} single bits flipped: ${refused} refused by name, ${told} named as damage, ${harmless} without effect, ${silent} wrong without a word, ${unnamed} without a name`,
        silent + unnamed === 0,
      ),
    ],
  };
}

function judged({ name, expected, exitCodes, refusals: seen, recovered }: Condition) {
  const right = seen.filter(({ code, error = '' }) => exitCodes.includes(code) && expected.includes(error));
  const codes = [...new Set(seen.map(({ code, error }) => `${error ?? 'none'} ${code}`))].join(', ');
  const holds = seen.length > 0 && right.length === seen.length && recovered;
  return claim(
    `${name}: ${right.length} of ${seen.length} commands refused by name (${codes}); afterwards ${recovered ? 'done' : 'not done'}`,
    holds,
  );
}

export const refusingStoreRow = row('FAULT-08', observe, judgeRefusingStore);

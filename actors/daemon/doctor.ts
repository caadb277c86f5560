/** What `doctor` looks at: the program, its host, its store, and what was left lying about. It changes nothing. */
import { existsSync, readdirSync } from 'node:fs';
import { release } from 'node:os';
import { join } from 'node:path';
import { StoreError } from '../../persistence/errors.ts';
import { openStore, type Store } from '../../persistence/store.ts';
import { guardianBinary, guardianDigest } from '../../pty/launch/binary.ts';
import { everyActor } from '../runtime/actorAccess.ts';
import { presentOperatorKey } from '../runtime/credentials.ts';
import { isInPlace } from '../runtime/generations.ts';
import { type Places, refusedRuntimeDirectory } from '../runtime/places.ts';
import type { CheckView } from './api/views.ts';
import { calendarClock } from './calendarClock.ts';
import { loadConfig } from './config.ts';
import type { DaemonContext } from './context.ts';
import { batteryVersion } from './contract/battery.ts';
import { contractName } from './contract/record.ts';
import { isContractCurrent, verifiedSubset } from './contract/verify.ts';
import { healthOf } from './health.ts';
import { promotionChecks } from './promotion/diagnosis.ts';
import { misplaced } from './statePlace.ts';
import { presenceOf, recordedIdentity } from './terminals/hostProcess.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const good = (id: string, detail: string): CheckView => ({ id, ok: true, severity: 'info', detail, fix: null });
const bad = (id: string, detail: string, fix: string): CheckView => ({ id, ok: false, severity: 'error', detail, fix });
const warning = (id: string, detail: string, fix: string): CheckView => ({
  id,
  ok: true,
  severity: 'warning',
  detail,
  fix,
});

/** Asked of a running daemon, which holds the store. */
export async function diagnoseOnline(context: DaemonContext): Promise<readonly CheckView[]> {
  const { store, guardian, places, adapter } = context;
  const problem = adapter.context();
  const health = healthOf(context);
  return [
    ...hostChecks(process.env),
    'problem' in problem
      ? bad(
          'procfs',
          `processes cannot be observed: ${problem.problem}`,
          'mount /proc for this user, without hidepid if possible',
        )
      : good('procfs', 'processes can be observed'),
    good('guardian', `built, SHA-256 ${guardian.digest.slice(0, 16)}…`),
    ...storeChecks(store),
    placeCheck(store, places),
    operatorCheck(places),
    await integrityCheck(store),
    contractCheck(store, guardian.digest),
    health.state === 'ok'
      ? good('health', 'nothing is unaccounted for')
      : bad('health', `${health.state}: ${someOf(health.reasons.map(({ detail }) => detail))}`, 'custody processes'),
    workGroupCheck(context),
    await terminalCheck(context),
    ...delegations(context),
    ...leftovers(context, places),
    ...missingWorktrees(context),
    ...promotionChecks(context),
  ];
}

/** Somebody waits for the whole diagnosis. */
const terminalAnswerMs = 2_000;

/** Who holds the terminals: a process of its own, which outlives this one (ruling 20). */
async function terminalCheck(context: DaemonContext): Promise<CheckView> {
  const id = 'terminals';
  const pid = recordedIdentity(context)?.pid;
  if (pid === undefined || presenceOf(context) === 'gone') return good(id, 'no process holds terminals');
  try {
    const client = await context.ptyHostLink.adopt();
    if (client === undefined) return good(id, 'no process holds terminals');
    const sessions = await client.sessions({ withinMs: terminalAnswerMs });
    return good(id, `pid ${pid} holds ${sessions.length} ${sessions.length === 1 ? 'terminal' : 'terminals'}`);
  } catch {
    const silence = `pid ${pid} holds the terminals and does not answer; their work goes on`;
    return warning(id, silence, `find out what keeps process ${pid}; without it every terminal is hung up`);
  }
}

/** What is left out is counted: a text that ends in the middle says less than it seems to. */
function someOf(details: readonly string[]): string {
  const shown = details.slice(0, 5).join('; ');
  return details.length > 5 ? `${shown}; and ${details.length - 5} more` : shown;
}

/** Without a daemon: the store is opened for a moment, or the reason why it cannot be is the answer. */
export async function diagnoseOffline({
  places,
  env,
}: {
  places: Places;
  env: Environment;
}): Promise<readonly CheckView[]> {
  const checks: CheckView[] = [...hostChecks(env), configCheck(places, env)];
  let digest = '';
  try {
    digest = guardianDigest(await guardianBinary());
    checks.push(good('guardian', `built, SHA-256 ${digest.slice(0, 16)}…`));
  } catch (error) {
    checks.push(bad('guardian', (error as Error).message, 'install a C compiler, then `npm rebuild custody`'));
  }
  try {
    const store = openStore({ stateDir: places.stateDir, clock: calendarClock, create: false });
    try {
      checks.push(
        ...storeChecks(store),
        placeCheck(store, places),
        operatorCheck(places),
        await integrityCheck(store),
        contractCheck(store, digest),
      );
    } finally {
      store.close();
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    checks.push(bad('store', `${error.code}: ${error.message}`, error.next[0] ?? 'custody init'));
  }
  return checks;
}

function configCheck(places: Places, env: Environment): CheckView {
  try {
    return good('config', `${loadConfig(places, env).values.length} parameters`);
  } catch (error) {
    return bad('config', (error as Error).message, `edit ${places.configFile}`);
  }
}

/** Ways in which work can leave the tree of its guardian on this machine; named, because no receipt speaks of them (GRD-12). */
const delegators: readonly (readonly [variable: string, what: string])[] = [
  ['TMUX', 'a tmux server that runs already'],
  ['STY', 'a screen server that runs already'],
  ['DOCKER_HOST', 'a container daemon'],
  ['DBUS_SESSION_BUS_ADDRESS', 'programs that D-Bus activates'],
  ['SSH_AUTH_SOCK', 'other machines, over ssh'],
];

function hostChecks(env: Environment): CheckView[] {
  const checks: CheckView[] = [good('platform', `Linux, Node ${process.versions.node}`)];
  const reachable = delegators.filter(([variable]) => env[variable]).map(([, what]) => what);
  checks.push(
    reachable.length === 0
      ? good('delegators', 'no server that could take work out of a tree is announced in the environment')
      : warning(
          'delegators',
          `work handed to these is not covered by a receipt: ${reachable.join(', ')}`,
          'launch agents without these variables; runs get an allow-list by default',
        ),
  );
  const refused = refusedRuntimeDirectory(env);
  if (refused !== undefined)
    checks.push(
      warning(
        'runtimeDirectory',
        `${refused} is not a directory of this user; the socket is in the state directory instead`,
        `look at ${refused}, then remove it`,
      ),
    );
  if (isWsl())
    checks.push(
      warning(
        'wsl',
        'this is WSL: a shut-down virtual machine ends everything at once',
        'keep the virtual machine running while agents work',
      ),
    );
  if (
    existsSync('/run/systemd/system') &&
    env.XDG_RUNTIME_DIR &&
    !existsSync(`/var/lib/systemd/linger/${env.USER ?? ''}`)
  ) {
    checks.push(warning('lingering', 'systemd may end your processes when you log out', 'loginctl enable-linger'));
  }
  return checks;
}

const isWsl = (): boolean => /microsoft/i.test(release());

function storeChecks(store: Store): CheckView[] {
  const named = store.warnings.map(({ code, message }) => warning(`store.${code}`, message, 'see the message'));
  const statement =
    'one SQLite file on this disk; it does not protect against a lost disk, storage that lies about flushes, or hostile programs of the same user';
  return [
    good('store', `${store.filesystem}, WAL, synchronous FULL, epoch ${store.epoch}, start ${store.startNumber}`),
    good('store.limits', statement),
    ...named,
  ];
}

function placeCheck(store: Store, places: Places): CheckView {
  const problem = misplaced(store, places);
  if (problem === undefined) return good('place', `the installation is where it was made: ${places.stateDir}`);
  return bad('place', `${problem.code}: ${problem.message}`, problem.next.join('; '));
}

/** Without a usable key the operator is refused almost everything else (ruling 24). */
function operatorCheck(places: Places): CheckView {
  const id = 'operator';
  try {
    const isThere = presentOperatorKey(places) !== undefined;
    return good(id, isThere ? 'the key of the operator is private' : 'there is no key yet; a daemon makes one');
  } catch (error) {
    const { message, next = [] } = error as Error & { readonly next?: readonly string[] };
    return bad(id, message, next.join('; or ') || 'make it readable for this user alone');
  }
}

/** No fault: where a daemon is killed alone, as by our own unit, nothing depends on it. */
const workGroupCheck = ({ workGroup: { directory, reason } }: DaemonContext): CheckView =>
  good(
    'workGroup',
    directory === undefined ? `work shares the daemon's control group, and would be killed with it: ${reason}` : reason,
  );

async function integrityCheck(store: Store): Promise<CheckView> {
  const { ok, problems, checked } = await store.check();
  if (ok)
    return good(
      'integrity',
      `${checked.actors} actors, ${checked.events} events, ${checked.effects} effects agree with their digests`,
    );
  const first = problems.slice(0, 5).map(({ table, where, problem }) => `${table} ${where}: ${problem}`);
  return bad(
    'integrity',
    `${problems.length} problem(s): ${first.join('; ')}`,
    'restore the last `custody backup`; actors that are not named here are not affected',
  );
}

function contractCheck(store: Store, digest: string): CheckView {
  if (isContractCurrent(store, digest))
    return good('contract', `${contractName} verified for this kernel and guardian, ${extentOf(store)}`);
  const last = store.selfChecks.newest('containment');
  if (last && !last.passed) return bad('contract', 'the last containment check failed', 'custody contract verify');
  return warning(
    'contract',
    'not verified for this kernel and guardian; sealing waits for it',
    'custody contract verify',
  );
}

const extentOf = (store: Store): string =>
  verifiedSubset(store) === 'full'
    ? `with all of battery ${batteryVersion}`
    : `with the short part of battery ${batteryVersion}; \`custody contract verify\` runs all of it`;

/** Named by the recipes of what still runs; whatever else hands work over is not seen here (GRD-12). */
function delegations({ host }: DaemonContext): CheckView[] {
  const found = [...everyActor(host, 'executionScope', { released: false })].flatMap(({ id, snapshot }) =>
    snapshot === 'corrupt' || snapshot.context.delegators.length === 0
      ? []
      : [`${id} (${snapshot.context.delegators.join(', ')})`],
  );
  if (found.length === 0) return [good('recipes', 'no recipe of what runs names a program that hands work to others')];
  return [
    warning(
      'recipes',
      `work may be handed to others, whom no exit proof speaks of: ${someOf(found)}`,
      'custody contract verify, which says what a proof does not cover',
    ),
  ];
}

/** Directories that no actor knows: left by a crash between git and the commit, or put there by hand. */
function leftovers({ host }: DaemonContext, places: Places): CheckView[] {
  const known = new Set([...everyActor(host, 'worktreeGeneration')].map(({ id }) => id));
  const unknown = namesIn(places.worktreesDir).filter((name) => !known.has(name));
  if (unknown.length === 0) return [good('leftovers', 'every worktree directory belongs to a generation')];
  return [
    warning(
      'leftovers',
      `${unknown.length} worktree directories belong to no generation: ${unknown.slice(0, 5).join(', ')}`,
      `look at them, then \`git worktree remove ${join(places.worktreesDir, unknown[0]!)}\``,
    ),
  ];
}

/** Generations whose directory was taken away behind their back; the next launch would be refused there. */
function missingWorktrees({ host }: DaemonContext): CheckView[] {
  const missing: string[] = [];
  for (const { id, snapshot } of everyActor(host, 'worktreeGeneration', { settled: false })) {
    if (snapshot === 'corrupt' || snapshot.matches({ lifecycle: 'sealed' })) continue;
    if (!isInPlace(snapshot)) missing.push(id);
  }
  if (missing.length === 0) return [good('worktrees', 'every open worktree is where it was made')];
  const named = missing.slice(0, 5).join(', ');
  return [warning('worktrees', `gone or replaced: ${named}`, 'custody worktrees add GOAL makes a new one')];
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

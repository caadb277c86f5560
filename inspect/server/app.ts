/** Which address answers with what. A path that is here by another method is refused as that; everything else is not here. */
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { stream } from 'hono/streaming';
import type { InspectedDaemon } from '../../actors/daemon/inspector/port.ts';
import type { ActorKind } from '../../machines/ids.ts';
import type { PlacedChart } from '../diagrams/placed.ts';
import type { Grants } from './access/grants.ts';
import { type Access, guard, headers, usedUp } from './access/guard.ts';
import { answerTo, notHere, Refusal } from './access/refusal.ts';
import { actorAnswer, journalOf } from './actors/actorView.ts';
import type { Histories } from './actors/history.ts';
import { momentAt } from './actors/moment.ts';
import type { Asset } from './assets.ts';
import { type FleetAnswer, type Opened, refusals, routes } from './contract.ts';
import { control, controlSchema } from './control.ts';
import type { Fleet } from './fleet/fleet.ts';
import { metricsReader } from './metrics.ts';
import { bodyOf, largestBody, pathOf, queryOf, schemas, tooLarge } from './parameters.ts';
import { processesAnswer, processesOfScope } from './processes.ts';
import { sequenceOf } from './sequence.ts';
import { watchTerminal } from './terminals/live.ts';
import { recordingOf } from './terminals/recording.ts';
import { screenAnswer, terminalAnswer } from './terminals/terminalView.ts';
import type { Beside } from './thread/beside.ts';
import { timelineOf } from './timeline.ts';
import type { Overview } from './updates/overview.ts';
import { mostClients, type Updates } from './updates/updates.ts';

export interface AppParts {
  readonly daemon: InspectedDaemon;
  readonly grants: Grants;
  readonly fleet: Fleet;
  readonly updates: Updates;
  readonly overview: Overview;
  readonly histories: Histories;
  readonly beside: Beside;
  readonly assets: ReadonlyMap<string, Asset>;
  /** `127.0.0.1:PORT`. */
  readonly own: () => string;
  /** Streams that the end of the server ends. */
  readonly streams: Set<{ close(): void }>;
}

type Bindings = { Bindings: HttpBindings } & Access;
type Handler = (context: Context<Bindings>) => Response | Promise<Response>;
type App = Hono<Bindings>;

const shownEvents = 100;

export function createApp(parts: AppParts): App {
  const app: App = new Hono<Bindings>();
  app.onError((thrown, context) => {
    const { status, body, isBug } = answerTo(thrown);
    if (isBug)
      parts.daemon.log.error({ name: thrown.name, stack: thrown.stack?.slice(0, 2_000) }, 'the inspector failed');
    return context.json(body, status as 400);
  });
  app.use(guard(parts));
  app.use(bodyLimit({ maxSize: largestBody, onError: () => Promise.reject(tooLarge()) }));
  const get = route(app, 'GET');
  const post = route(app, 'POST');
  post(routes.open, (context) => opened(parts, context));
  post(routes.control, async (context) => {
    queryOf(context, schemas.nothing);
    const request = await bodyOf(context, controlSchema);
    const asked = { grant: context.var.grant, request, signal: context.req.raw.signal };
    return context.json(await control(parts.daemon, asked));
  });
  addActors(get, parts);
  addViews(get, parts);
  addTerminals(get, parts);
  addStreams(get, parts);
  app.get('*', (context) => served(parts, context));
  app.all('*', () => {
    throw new Refusal(refusals.method, 'only GET is understood here');
  });
  return app;
}

type Route = (path: string, handler: Handler) => void;

/** Adds the refusal of every other method beside it. */
const route =
  (app: App, method: 'GET' | 'POST'): Route =>
  (path, handler) => {
    app.on(method, path, handler);
    app.all(path, (context) => {
      context.header('allow', method === 'GET' ? 'GET, HEAD' : method);
      throw new Refusal(refusals.method, `only ${method} is understood here`);
    });
  };

async function opened({ grants, daemon }: AppParts, context: Context<Bindings>): Promise<Response> {
  queryOf(context, schemas.nothing);
  const { code } = await bodyOf(context, schemas.open);
  const redeemed = grants.redeem(code);
  if (redeemed === undefined) throw usedUp();
  const { token, grant } = redeemed;
  return context.json({ token, control: grant.control, version: daemon.version } satisfies Opened);
}

function addActors(get: Route, parts: AppParts): void {
  const { daemon, histories } = parts;
  get(routes.actor, async (context) => {
    queryOf(context, schemas.nothing);
    parts.updates.flush();
    return context.json(await actorAnswer(parts, pathOf(context, schemas.actor)));
  });
  get(routes.actorJournal, (context) => {
    const actor = pathOf(context, schemas.actor);
    const { before, limit = shownEvents } = queryOf(context, schemas.journal);
    if (daemon.store.actors.keyOf(actor) === undefined) throw notHere(`${actor.kind} ${actor.id}`);
    return context.json(journalOf(daemon, actor, { before, limit }));
  });
  get(routes.actorMoment, async (context) => {
    const { kind, id } = pathOf(context, schemas.actor);
    const { position } = queryOf(context, schemas.moment);
    const history = await histories.of(kind, id);
    if (history === undefined) throw notHere(`${kind} ${id}`);
    return context.json(momentAt(history, position));
  });
  const charts = new Map<ActorKind, Promise<PlacedChart>>();
  get(routes.chart, async (context) => {
    queryOf(context, schemas.nothing);
    const { kind } = pathOf(context, schemas.kind);
    const chart = charts.get(kind) ?? parts.beside.work<'chart'>({ do: 'chart', kind });
    charts.set(kind, chart);
    chart.catch(() => charts.delete(kind));
    return context.json(await chart);
  });
}

function addViews(get: Route, parts: AppParts): void {
  const { daemon, fleet } = parts;
  get(routes.fleet, (context) => {
    queryOf(context, schemas.nothing);
    return context.json(fleetAnswer(parts, context.var.grant.control));
  });
  get(routes.sequence, async (context) => {
    const { after, before, limit = 200, kind, id, goal } = queryOf(context, schemas.sequence);
    const actor = kind === undefined || id === undefined ? undefined : { kind, id };
    parts.updates.flush();
    return context.json(await sequenceOf(parts, { after, before, limit, actor, goalId: goal }));
  });
  get(routes.processes, async (context) => {
    const { all } = queryOf(context, schemas.processes);
    const asked = { daemon, fleet, signal: context.req.raw.signal };
    return context.json(await processesAnswer(asked, all === '1'));
  });
  get(routes.processesOfScope, async (context) => {
    queryOf(context, schemas.nothing);
    return context.json(await processesOfScope(daemon, pathOf(context, schemas.id).id));
  });
  get(routes.timeline, async (context) => {
    queryOf(context, schemas.nothing);
    parts.updates.flush();
    return context.json(await timelineOf(parts, pathOf(context, schemas.id).id));
  });
  const metrics = metricsReader(daemon);
  get(routes.metrics, async (context) => context.json(await metrics(queryOf(context, schemas.metrics).window)));
}

/** The lines are brought up to the last commit first, so that the position is that of all of them. */
function fleetAnswer({ updates, overview, fleet, daemon }: AppParts, mayControl: boolean): FleetAnswer {
  updates.flush();
  const position = daemon.store.journal.lastPosition();
  const { isComplete: complete, omitted } = fleet;
  return { position, ...overview.read(), control: mayControl, complete, omitted, actors: [...fleet.rows] };
}

function addTerminals(get: Route, { daemon, beside, streams }: AppParts): void {
  get(routes.terminal, async (context) => {
    queryOf(context, schemas.nothing);
    const { id } = pathOf(context, schemas.id);
    return context.json(await terminalAnswer(daemon, beside, { id, signal: context.req.raw.signal }));
  });
  get(routes.terminalScreen, async (context) => {
    const { id } = pathOf(context, schemas.id);
    const at = queryOf(context, schemas.instant);
    return context.json(await screenAnswer(daemon, beside, { id, at, signal: context.req.raw.signal }));
  });
  get(routes.terminalRecording, async (context) => {
    queryOf(context, schemas.nothing);
    const pieces = await recordingOf(daemon, beside, pathOf(context, schemas.id).id);
    context.header('content-type', 'application/x-asciicast');
    return stream(context, async (out) => {
      out.onAbort(() => void pieces.return(undefined));
      try {
        for await (const piece of pieces) await out.write(piece);
      } catch {
        // An answer that ended as others do would be taken for all of it.
        context.env.outgoing.destroy();
      }
    });
  });
  get(routes.terminalLive, async (context) => {
    queryOf(context, schemas.nothing);
    const terminal = await watchTerminal(daemon, pathOf(context, schemas.id).id);
    // Whoever left meanwhile closes no more.
    const hasLeft = context.env.outgoing.destroyed;
    if (hasLeft || streams.size >= mostClients) terminal.close();
    if (hasLeft) return RESPONSE_ALREADY_SENT;
    if (streams.size >= mostClients) throw busy();
    const response = begun(context);
    streams.add(terminal);
    response.on('close', () => streams.delete(terminal));
    terminal.into(response);
    return RESPONSE_ALREADY_SENT;
  });
}

const busy = (): Refusal => new Refusal(refusals.busy, `more than ${mostClients} look at once`, ['close a page']);

function addStreams(get: Route, { updates }: AppParts): void {
  get(routes.updates, (context) => {
    const { after } = queryOf(context, schemas.updates);
    const last = context.req.header('last-event-id');
    if (last !== undefined && !/^\d{1,15}$/.test(last))
      throw new Refusal(refusals.invalid, 'Last-Event-ID is no position');
    if (updates.clients >= mostClients) throw busy();
    const from = last === undefined ? after : Number(last);
    updates.attach(begun(context), { after: from, control: context.var.grant.control });
    return RESPONSE_ALREADY_SENT;
  });
}

/** The head of an event stream; what follows is written as it comes, and only as fast as it is taken. */
function begun({ env: { outgoing } }: Context<Bindings>) {
  const response = outgoing as import('node:http').ServerResponse;
  response.writeHead(200, { ...headers, 'content-type': 'text/event-stream; charset=utf-8' });
  response.socket?.setNoDelay(true);
  return response;
}

/** A file of the page, by the list that was made at the start. */
function served({ assets }: AppParts, { req, body }: Context<Bindings>): Response {
  const asset = assets.get(req.path);
  if (asset === undefined)
    throw notHere(req.path === '/' ? 'page in this installation: only the data is served' : 'such page');
  return body(asset.bytes, 200, { 'content-type': asset.type });
}

/**
 * The one API, on a UNIX socket inside a private directory (0700, socket 0600): whoever can open it is this user. What
 * speaks for the operator, or for a session, stands in the authorization header (RFC 9110) after the word Custody.
 * A call answers one Reply, and GET /metrics what a scraper reads; a stream answers lines of JSON until the client leaves
 * or the source ends.
 */
import { once } from 'node:events';
import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { dirname } from 'node:path';
import { createAdaptorServer } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { stream } from 'hono/streaming';
import type { z } from 'zod';
import { contentType } from '../../metrics/exposition.ts';
import { OperatingError, toApiError } from '../../runtime/operatingError.ts';
import { withSocketAddress } from '../../runtime/places.ts';
import { type CallName, callSchemas, type StreamName, streamSchemas } from './contract.ts';
import type { Reply } from './views.ts';

export interface ApiHandlers {
  readonly hello: () => Record<string, unknown>;
  /** Throws for whoever may not ask for that. */
  readonly authorise: (name: CallName | StreamName, credential: string | undefined) => void;
  readonly call: (name: string, args: unknown, signal: AbortSignal) => Promise<Reply<unknown>>;
  readonly stream: (name: StreamName, args: unknown, signal: AbortSignal) => AsyncIterable<unknown>;
  /** The text of GET /metrics. */
  readonly exposition: () => string;
  readonly onBug: (error: unknown) => void;
}

/** 24 MiB: the largest legal launch (arguments and environment, E2BIG lies far below) with base64 standard input. */
const largestBody = 25_165_824;

export function createApi(handlers: ApiHandlers): Hono {
  const app = new Hono();
  app.use(bodyLimit({ maxSize: largestBody }));
  app.get('/v1/hello', (context) => context.json(handlers.hello()));
  app.get('/metrics', (context) => {
    try {
      handlers.authorise('observe.exposition', credentialOf(context));
      return context.body(handlers.exposition(), 200, { 'content-type': contentType });
    } catch (error) {
      const { code, message } = toApiError(error);
      if (code === 'internal_error') handlers.onBug(error);
      return context.text(`${message}\n`, code === 'not_operator' ? 403 : 503);
    }
  });
  app.post('/v1/call/:name', async (context) => {
    const name = context.req.param('name');
    const body = await bodyOf(context);
    if (body === undefined) return unheard();
    try {
      const schema = known(callSchemas, name);
      handlers.authorise(name as CallName, credentialOf(context));
      const args = validated(schema, name, body);
      return context.json(await handlers.call(name, args, context.req.raw.signal));
    } catch (error) {
      const failure = toApiError(error);
      if (failure.code === 'internal_error') handlers.onBug(error);
      return context.json({ ok: false, command: name, error: failure } satisfies Reply<never>);
    }
  });
  app.post('/v1/stream/:name', async (context) => {
    const name = context.req.param('name');
    const body = await bodyOf(context);
    if (body === undefined) return unheard();
    context.header('content-type', 'application/x-ndjson');
    return stream(context, async (out) => {
      const gone = new AbortController();
      out.onAbort(() => gone.abort());
      try {
        const schema = known(streamSchemas, name);
        handlers.authorise(name as StreamName, credentialOf(context));
        const args = validated(schema, name, body);
        for await (const line of handlers.stream(name as StreamName, args, gone.signal)) {
          await out.write(`${JSON.stringify(line)}\n`);
        }
      } catch (error) {
        const failure = toApiError(error);
        if (failure.code === 'internal_error') handlers.onBug(error);
        if (!gone.signal.aborted) await out.write(`${JSON.stringify({ error: failure })}\n`);
      }
    });
  });
  return app;
}

/**
 * Undefined when the client left before it had said everything: nothing was asked then, and nothing is wrong here. A
 * body that is too large is left to the limit above.
 */
async function bodyOf({ req }: Context): Promise<string | undefined> {
  try {
    return await req.text();
  } catch (error) {
    if ((error as Error | undefined)?.name === 'BodyLimitError') throw error;
    return undefined;
  }
}

const unheard = (): Response => new Response(null, { status: 400 });

const credentialOf = ({ req }: Context): string | undefined =>
  /^Custody (.+)$/.exec(req.header('authorization') ?? '')?.[1];

function known(schemas: Readonly<Record<string, z.ZodType>>, name: string): z.ZodType {
  const schema = Object.hasOwn(schemas, name) ? schemas[name] : undefined;
  if (schema) return schema;
  throw new OperatingError({
    code: 'unknown_command',
    message: `there is no call named ${JSON.stringify(name)}`,
    exitCode: 2,
  });
}

function validated(schema: z.ZodType, name: string, body: string): unknown {
  let json: unknown;
  try {
    json = body === '' ? {} : JSON.parse(body);
  } catch {
    throw new OperatingError({ code: 'invalid_event', message: 'the request body is not JSON', exitCode: 2 });
  }
  const result = schema.safeParse(json);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw new OperatingError({
    code: 'invalid_event',
    message: `${issue?.path.join('.') || 'arguments'}: ${issue?.message ?? 'invalid'}`,
    exitCode: 2,
    next: [`custody ${name.replaceAll('.', ' ')} --help`],
    details: { issues: result.error.issues.map(({ path, message }) => ({ path: path.join('.'), message })) },
  });
}

export interface ApiServer extends Server {
  readonly openCalls: ReadonlySet<ServerResponse>;
}

export function createApiServer(app: Hono): ApiServer {
  const server = createAdaptorServer({ fetch: app.fetch }) as Server;
  const openCalls = new Set<ServerResponse>();
  server.prependListener('request', ({ url }: IncomingMessage, response: ServerResponse) => {
    if (url?.startsWith('/v1/stream/')) return;
    openCalls.add(response);
    response.once('close', () => openCalls.delete(response));
  });
  // A connection that finds no descriptor (accept(2), EMFILE) is lost; the daemon is not.
  server.on('error', () => {});
  return Object.assign(server, { openCalls });
}

/**
 * Listens at `socket` (its directory is made private), replacing what a dead daemon left there. A server that listened
 * elsewhere leaves that place; the calls and streams that it has taken go on.
 */
export async function listenAt(server: ApiServer, socket: string): Promise<void> {
  mkdirSync(dirname(socket), { recursive: true, mode: 0o700 });
  chmodSync(dirname(socket), 0o700);
  await withSocketAddress(socket, async (address) => {
    // Node closes the descriptor at once; what it waits for are the connections.
    if (server.listening) server.close();
    rmSync(socket, { force: true });
    await bound(server, address);
  });
}

async function bound(server: ApiServer, address: string): Promise<void> {
  const formerMask = process.umask(0o177);
  try {
    // Rejects with what the server says of an address that it cannot use.
    const listening = once(server, 'listening');
    server.listen(address);
    await listening;
  } finally {
    process.umask(formerMask);
  }
}

/**
 * Resolves when every call that was taken has its answer; streams are not waited for, they end with the server. Call it
 * before closing the server, so that whoever asked for the stop hears of it.
 */
export function callsAnswered(server: ApiServer): Promise<void> {
  if (server.openCalls.size === 0) return Promise.resolve();
  return new Promise((resolve) => {
    for (const response of server.openCalls) {
      response.once('close', () => {
        if (server.openCalls.size === 0) resolve();
      });
    }
  });
}

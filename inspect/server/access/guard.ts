/**
 * What every request has to pass before anybody reads what it wants. A page of somebody else can make a browser send
 * requests here, also under another name for this address (DNS rebinding): so the Host has to be the very address, an
 * Origin has to be this one, and what is under /api/ takes a token that no other page can have.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { MiddlewareHandler } from 'hono';
import type { PageGrant } from '../../../actors/daemon/inspector/port.ts';
import { refusals, routes } from '../contract.ts';
import type { Grants } from './grants.ts';
import { Refusal } from './refusal.ts';

export type Access = { Variables: { readonly grant: PageGrant } };

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

/** On every answer. Nothing in here is for a cache: files are small and near, and data is somebody's work. */
export const headers: Readonly<Record<string, string>> = {
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'x-frame-options': 'DENY',
};

const foreign = (what: string): Refusal =>
  new Refusal(refusals.foreign, `${what} is not that of this inspector`, ['open it with: custody inspect']);

/** `own` is `127.0.0.1:PORT`. Throws a Refusal. */
export function assertOwnHost({ host }: IncomingHttpHeaders, own: string): void {
  if (host !== own) throw foreign('the Host header');
}

/**
 * Browsers name the origin of everything but plain navigation and reading by the same page; `sec-fetch-site` says the
 * rest. What changes something has to bring it.
 */
export function assertOwnOrigin(
  { origin, 'sec-fetch-site': site }: IncomingHttpHeaders,
  { own, isNeeded }: { readonly own: string; readonly isNeeded: boolean },
): void {
  if (origin === undefined ? isNeeded : origin !== `http://${own}`) throw foreign('the Origin header');
  if (site !== undefined && site !== 'same-origin' && site !== 'none') throw foreign('the page that asks');
}

/** `Authorization: Bearer …`; undefined where there is none. */
export const bearerOf = ({ authorization }: IncomingHttpHeaders): string | undefined =>
  /^Bearer ([A-Za-z0-9_-]{1,128})$/.exec(authorization ?? '')?.[1];

interface Guarded {
  readonly own: () => string;
  readonly grants: Grants;
}

/** For everything: `/` and the files of the page ask for no token, because they are the same for everybody. */
export function guard({ own, grants }: Guarded): MiddlewareHandler<Access> {
  return async (context, next) => {
    for (const [name, value] of Object.entries(headers)) context.header(name, value);
    const { path, method } = context.req;
    const sent = Object.fromEntries(context.req.raw.headers) as IncomingHttpHeaders;
    assertOwnHost(sent, own());
    const isData = path === '/api' || path.startsWith('/api/');
    const isReading = method === 'GET' || method === 'HEAD';
    if (isData || !isReading || sent.origin !== undefined) assertOwnOrigin(sent, { own: own(), isNeeded: !isReading });
    if (isData && path !== routes.open) {
      const token = bearerOf(sent);
      const grant = token === undefined ? undefined : grants.page(token);
      if (grant === undefined) throw unauthorised();
      context.set('grant', grant);
    }
    await next();
  };
}

/** Which of the two it was is not told: of codes that were used nothing is kept. */
export const usedUp = (): Refusal =>
  new Refusal(refusals.unauthorised, 'this link was used before, or has expired', ['custody inspect']);

export const unauthorised = (): Refusal =>
  new Refusal(refusals.unauthorised, 'whoever asks does not show that they may look', ['custody inspect']);

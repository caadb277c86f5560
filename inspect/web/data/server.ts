/**
 * Questions to the server that the page came from. The code in the address counts once and becomes a token, which lives as
 * long as the tab and is sent in a header that no other page can make a browser send.
 */
import { signal } from '@preact/signals';
import { type Opened, type Refused, routes } from '../../server/contract.ts';

const key = 'custody.token';

export type Access = 'opening' | 'open' | 'denied';
export const access = signal<Access>('opening');
export const control = signal(false);
/** Why nobody was let in, as the server says it. */
export const denial = signal('');

let token = sessionStorage.getItem(key);

/** An answer that is not 2xx, or none at all (`unreachable`). */
export class ServerError extends Error {
  readonly code: string;
  readonly status: number;
  readonly next: readonly string[];

  constructor(status: number, { code, message, next }: Refused['error']) {
    super(message);
    this.code = code;
    this.status = status;
    this.next = next;
  }
}

/** Trades the code of the address for a token, where there is one; else what this tab knows already has to do. */
export async function enter(): Promise<void> {
  const code = /^#code=(.+)$/.exec(location.hash)?.[1];
  if (code !== undefined) {
    history.replaceState(history.state, '', `${location.pathname}#/fleet`);
    dispatchEvent(new HashChangeEvent('hashchange'));
    try {
      const opened = await ask<Opened>(routes.open, { body: { code: decodeURIComponent(code) } });
      token = opened.token;
      sessionStorage.setItem(key, token);
      control.value = opened.control;
    } catch (error) {
      // A tab that was let in before stays in, whatever became of the code.
      if (token === null) return deny(error instanceof Error ? error.message : String(error));
    }
  }
  if (token === null) return deny('');
  access.value = 'open';
}

export interface AskOptions {
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/** Throws ServerError; AbortError when `signal` says so. */
export async function ask<T>(path: string, options: AskOptions = {}): Promise<T> {
  return (await (await fetched(path, options)).json()) as T;
}

/** The raw answer, for streams and recordings. */
export async function fetched(path: string, { body, signal: stop }: AskOptions = {}): Promise<Response> {
  const response = await send(path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(stop === undefined ? {} : { signal: stop }),
    cache: 'no-store',
    credentials: 'omit',
    redirect: 'error',
  });
  if (response.ok) return response;
  const error = await refusalOf(response);
  // Codes are the affair of whoever brought one.
  if (response.status === 401 && path !== routes.open)
    deny('The inspector that had let this tab in is there no more; the one that answers now does not know it.');
  throw error;
}

async function send(path: string, request: RequestInit): Promise<Response> {
  try {
    return await fetch(path, request);
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ServerError(0, { code: 'unreachable', message: 'The daemon does not answer.', next: ['custody status'] });
  }
}

async function refusalOf(response: Response): Promise<ServerError> {
  try {
    return new ServerError(response.status, ((await response.json()) as Refused).error);
  } catch {
    const message = `The server answered ${response.status}.`;
    return new ServerError(response.status, { code: 'unknown', message, next: [] });
  }
}

function deny(message: string): void {
  token = null;
  sessionStorage.removeItem(key);
  denial.value = message;
  access.value = 'denied';
}

/** `/api/actors/:kind/:id` with what belongs there. */
export function pathOf(
  route: string,
  parts: Readonly<Record<string, string>> = {},
  query: Readonly<Record<string, string | number | undefined>> = {},
): string {
  const path = route.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(parts[name] ?? ''));
  const said = Object.entries(query).filter((entry) => entry[1] !== undefined && entry[1] !== '');
  const search = new URLSearchParams(said.map(([name, value]) => [name, String(value)])).toString();
  return search === '' ? path : `${path}?${search}`;
}

/** What a browser does with the inspector of a real daemon, without a browser. */
import { request } from 'node:http';
import type { CallArguments } from '../../../../actors/daemon/api/contract.ts';
import { type Opened, routes } from '../../../../inspect/server/contract.ts';
import type { TestDaemon } from '../../../support/daemon.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export interface Ask {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** One request exactly as it is given: `fetch` would put Host and Origin right, and tidy up a path. */
export function ask(port: number, path: string, { method = 'GET', headers = {}, body }: Ask = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

export class Page {
  readonly port: number;
  readonly origin: string;
  readonly token: string;
  readonly inspectionUrl: string;

  constructor({ port, token, inspectionUrl }: Pick<Page, 'port' | 'token' | 'inspectionUrl'>) {
    this.port = port;
    this.token = token;
    this.inspectionUrl = inspectionUrl;
    this.origin = `http://127.0.0.1:${port}`;
  }

  get authorised(): Readonly<Record<string, string>> {
    return { authorization: `Bearer ${this.token}` };
  }

  ask(path: string, { headers = {}, ...rest }: Ask = {}): Promise<Answer> {
    return ask(this.port, path, { ...rest, headers: { ...this.authorised, ...headers } });
  }

  /** Throws for what is not 200. */
  async get<T>(path: string): Promise<T> {
    const { status, text } = await this.ask(path);
    if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
    return JSON.parse(text) as T;
  }

  post(path: string, value: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const json = { 'content-type': 'application/json', origin: this.origin };
    return this.ask(path, { method: 'POST', headers: { ...json, ...headers }, body: JSON.stringify(value) });
  }
}

export const codeIn = (url: string): string => /#code=(.+)$/.exec(url)?.[1] ?? '';

/** Opens the inspector as the command line does, and the page as a browser does. */
export async function openPage(daemon: TestDaemon, args: CallArguments<'inspect.open'> = {}): Promise<Page> {
  const { url, tcpPort: port, inspectionUrl } = await daemon.call('inspect.open', args);
  const { status, text } = await redeem(port, codeIn(url));
  if (status !== 200) throw new Error(`${status} ${text}`);
  const { token } = JSON.parse(text) as Opened;
  return new Page({ port, token, inspectionUrl });
}

export const redeem = (port: number, code: string): Promise<Answer> =>
  ask(port, routes.open, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: `http://127.0.0.1:${port}` },
    body: JSON.stringify({ code }),
  });

/** `:kind` and `:id` filled in. */
export const path = (route: string, { kind = '', id = '' }: { readonly kind?: string; readonly id?: string }): string =>
  route.replace(':kind', encodeURIComponent(kind)).replace(':id', encodeURIComponent(id));

/** An event stream as a page reads it. */
import { type IncomingMessage, request } from 'node:http';
import { onTestFinished } from 'vitest';
import type { TerminalMessage, UpdateMessage } from '../../../../inspect/server/contract.ts';
import type { Page } from './page.ts';

export interface Told<Message> {
  readonly id: string | undefined;
  readonly message: Message;
  /** On the clock of this process, when its last line had come. */
  readonly atMs: number;
}

export class Stream<Message extends { readonly type: string }> {
  readonly response: IncomingMessage;
  readonly told: Told<Message>[] = [];
  /** Comment lines so far. */
  beats = 0;
  readonly ended: Promise<void>;
  #text = '';
  #wake: () => void = () => {};

  constructor(response: IncomingMessage) {
    this.response = response;
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => this.#take(chunk));
    this.ended = new Promise((resolve) => response.once('close', () => resolve()));
    void this.ended.then(() => this.#wake());
  }

  /** The first message that matches, told already or not; throws when the stream ends without. */
  async until(matches: (message: Message) => boolean): Promise<Told<Message>> {
    for (let at = 0; ; ) {
      for (; at < this.told.length; at += 1) {
        const told = this.told[at] as Told<Message>;
        if (matches(told.message)) return told;
      }
      if (this.response.closed) throw new Error(`it ended: ${JSON.stringify(this.told.slice(-3))}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  of<Type extends Message['type']>(type: Type): Promise<Told<Extract<Message, { readonly type: Type }>>> {
    return this.until((message) => message.type === type) as Promise<Told<Extract<Message, { readonly type: Type }>>>;
  }

  close(): void {
    this.response.destroy();
  }

  #take(chunk: string): void {
    this.#text += chunk;
    for (let end = this.#text.indexOf('\n\n'); end >= 0; end = this.#text.indexOf('\n\n')) {
      const block = this.#text.slice(0, end);
      this.#text = this.#text.slice(end + 2);
      const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s)));
      if (fields.data === undefined) this.beats += 1;
      else this.told.push({ id: fields.id, message: JSON.parse(fields.data), atMs: performance.now() });
    }
    this.#wake();
  }
}

/** Rejects for an answer that is no stream. */
export function openStream<Message extends { readonly type: string }>(
  page: Page,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Stream<Message>> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: page.port, path, headers: { ...page.authorised, ...headers } };
    const sent = request({ ...options, agent: false }, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`${path}: ${response.statusCode}`));
      resolve(new Stream<Message>(response));
    });
    sent.on('error', reject);
    sent.end();
    onTestFinished(() => void sent.destroy());
  });
}

export const openUpdates = (page: Page, headers?: Readonly<Record<string, string>>): Promise<Stream<UpdateMessage>> =>
  openStream<UpdateMessage>(page, '/api/updates', headers);

export const openTerminal = (page: Page, id: string): Promise<Stream<TerminalMessage>> =>
  openStream<TerminalMessage>(page, `/api/terminals/${id}/live`);

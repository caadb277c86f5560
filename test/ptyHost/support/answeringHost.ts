/** What answers everything that a PTY host is asked with one and the same, for tests of whoever asks. */
import { createServer } from 'node:net';
import { onTestFinished } from 'vitest';
import { FrameReader, jsonFrame } from '../../../pty/wire/frames.ts';

export interface AnsweringHost {
  readonly address: string;
  readonly data: object;
}

/** Listens until the test is over. Returns what it is asked, as it comes. */
export async function answeringHost({ address, data }: AnsweringHost): Promise<readonly Record<string, unknown>[]> {
  const asked: Record<string, unknown>[] = [];
  const server = createServer((socket) => {
    const reader = new FrameReader();
    socket
      .on('error', () => {})
      .on('data', (chunk: Buffer) => {
        for (const { body } of reader.push(chunk)) {
          const request = JSON.parse(body.toString()) as Record<string, unknown>;
          asked.push(request);
          socket.write(jsonFrame({ reply: request.id, ok: true, data }));
        }
      });
  });
  await new Promise<void>((resolve) => server.listen(address, resolve));
  onTestFinished(() => void server.close());
  return asked;
}

/** Tells inputs under one id apart without keeping any of them (PTY-08). */
import { createHash } from 'node:crypto';
import type { RequestOf } from './messages.ts';

/** Base64 SHA-256 of everything that says what is to be typed. */
export function inputDigest({
  bytes,
  applicationBytes,
  paste,
  enter,
}: Pick<RequestOf<'send'>, 'bytes' | 'applicationBytes' | 'paste' | 'enter'>): string {
  return createHash('sha256')
    .update(JSON.stringify([bytes, applicationBytes, paste, enter]))
    .digest('base64');
}

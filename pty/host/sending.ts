/** Input that somebody sends by request: written once, as the program wants it, and acknowledged. */
import { inputDigest } from '../wire/inputDigest.ts';
import type { RequestOf } from '../wire/messages.ts';
import { pasted } from './paste.ts';
import type { Sent } from './rememberedInputs.ts';
import type { Session } from './session.ts';

type Send = RequestOf<'send'>;

/** Under an id it is typed once, however often it is asked for. Throws HostError and InputError. */
export async function sent(session: Session, request: Send): Promise<Sent & { readonly isRepeated?: boolean }> {
  const { inputId } = request;
  if (inputId === undefined) return typed(session, request);
  const type = async (): Promise<Sent> => {
    const outcome = await typed(session, request);
    session.noteTyped(inputId, outcome.bytes);
    return outcome;
  };
  return session.inputs.once(inputId, inputDigest(request), type);
}

/** Acknowledged when the kernel has the last byte, which is not yet: when the program has read it. */
async function typed(session: Session, request: Send): Promise<Sent> {
  const text = Buffer.from(await wanted(session, request), 'base64');
  const bracketed = request.paste === 'always' || (request.paste === 'auto' && (await wantsBrackets(session, text)));
  const bytes = request.paste === 'never' ? text : pasted(text, { bracketed });
  const enter = Buffer.from(request.enter ? '\r' : '');
  await session.write(Buffer.concat([bytes, enter]));
  return { bytes: bytes.length + enter.length, bracketed };
}

/** Throws `screen_unavailable` when it makes a difference and nobody can tell which: an arrow may be a command. */
async function wanted(session: Session, { bytes, applicationBytes = bytes }: Send): Promise<string> {
  if (applicationBytes === bytes) return bytes;
  return (await session.screen()).modes.applicationCursor ? applicationBytes : bytes;
}

/**
 * Throws `screen_unavailable` for several lines when nobody can tell what the program wants: typed into a shell that
 * would have taken them as one, each would be carried out.
 */
async function wantsBrackets(session: Session, text: Buffer): Promise<boolean> {
  try {
    return (await session.screen()).modes.bracketedPaste;
  } catch (error) {
    if (text.includes(0x0a) || text.includes(0x0d)) throw error;
    return false;
  }
}

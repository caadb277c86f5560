/**
 * Who may look. A code stands in the fragment of one address, counts once and for two minutes, and is worth nothing in a
 * history or a log afterwards; what it is exchanged for never stands in an address of the page. Kept in memory and as
 * digests, so that comparing tells nobody anything by how long it takes, and a daemon that ends takes them along.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { PageGrant } from '../../../actors/daemon/inspector/port.ts';

export const codeLifeMs = 120_000;
/** Pages that are open at once; the oldest gives way. */
const mostTokens = 256;

const digestOf = (secret: string): string => createHash('sha256').update(secret).digest('base64');
const secret = (): string => randomBytes(32).toString('base64url');

interface Offered {
  readonly grant: PageGrant;
  readonly expiresMonoMs: number;
}

/** Keeps the newest so many. */
function keep<Value>(known: Map<string, Value>, key: string, value: Value): void {
  known.set(key, value);
  const [oldest] = known.keys();
  if (known.size > mostTokens && oldest !== undefined) known.delete(oldest);
}

export class Grants {
  readonly #monoMs: () => number;
  readonly #codes = new Map<string, Offered>();
  readonly #pages = new Map<string, PageGrant>();
  readonly #sockets = new Map<string, PageGrant>();

  constructor(monoMs: () => number) {
    this.#monoMs = monoMs;
  }

  /** A code for a page, and a token with which the inspection protocol may be read and nothing else. */
  offer(grant: PageGrant): { readonly code: string; readonly socketToken: string } {
    const [code, socketToken] = [secret(), secret()];
    keep(this.#codes, digestOf(code), { grant, expiresMonoMs: this.#monoMs() + codeLifeMs });
    keep(this.#sockets, digestOf(socketToken), { ...grant, control: false });
    return { code, socketToken };
  }

  /** Undefined for a code that nobody was given, that was used before, or that is too old. */
  redeem(code: string): { readonly token: string; readonly grant: PageGrant } | undefined {
    const key = digestOf(code);
    const offered = this.#codes.get(key);
    this.#codes.delete(key);
    if (offered === undefined || offered.expiresMonoMs < this.#monoMs()) return undefined;
    const token = secret();
    keep(this.#pages, digestOf(token), offered.grant);
    return { token, grant: offered.grant };
  }

  page(token: string): PageGrant | undefined {
    return this.#pages.get(digestOf(token));
  }

  socket(token: string): PageGrant | undefined {
    return this.#sockets.get(digestOf(token));
  }
}

/** `custody status` in as little time as a process allows: one connection, one answer, nothing loaded for anything else. */
import type { Reply, StatusView } from '../actors/daemon/api/views.ts';
import { type Places, placesOf, readRendezvous } from '../actors/runtime/places.ts';
import { Client } from './client.ts';
import { endWithReader } from './closedReader.ts';
import { Output } from './output.ts';
import { requireOwn } from './ownership.ts';
import { statusLines } from './print/status.ts';

interface Wish {
  json: boolean;
  quiet: boolean;
  color: boolean;
  stateDir: string | undefined;
}

/**
 * True when the answer has been printed. Whatever is not plain (other words, no daemon, an error, a slow or strange
 * answer) is left to the full way, which asks again: a status changes nothing.
 */
export async function quickStatus(words: readonly string[]): Promise<boolean> {
  const wish = words[0] === 'status' ? wishOf(words.slice(1)) : undefined;
  if (!wish) return false;
  const reply = await asked(placesOf({ stateDir: wish.stateDir, env: process.env })).catch(() => undefined);
  if (!reply?.ok) return false;
  endWithReader(process.stdout);
  process.exitCode = new Output(wish).answer(reply, statusLines);
  return true;
}

const patienceMs = 2_000;

async function asked(places: Places): Promise<Reply<StatusView> | undefined> {
  const rendezvous = readRendezvous(places);
  if (!rendezvous) return undefined;
  requireOwn(places.stateDir);
  return new Client(rendezvous, () => undefined).call<StatusView>('status', {}, patienceMs);
}

/** Undefined for words that need the command tree to be understood, or refused. */
function wishOf(words: readonly string[]): Wish | undefined {
  const wish: Wish = { json: false, quiet: false, color: true, stateDir: undefined };
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at];
    if (word === '--json') wish.json = true;
    else if (word === '--quiet' || word === '-q') wish.quiet = true;
    else if (word === '--no-color') wish.color = false;
    else if (word === '--state-dir' && words[at + 1]) {
      at += 1;
      wish.stateDir = words[at];
    } else if (word !== '--no-autostart') return undefined;
  }
  return wish;
}

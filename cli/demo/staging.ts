/** Sets a stage: a scratch directory with an installation of its own, and what ends whatever happens there early. */
import type { Output } from '../output.ts';
import { Installation } from './installation.ts';
import { Interruption } from './interruption.ts';
import { Narrator } from './narrator.ts';
import { Scratch } from './scratch.ts';
import type { Stage } from './stage.ts';
import { Audience } from './viewer.ts';

interface Staging {
  /** In words, for whoever is told that it was ended. */
  readonly what: string;
  /** Part of the scratch directory's name. */
  readonly name: string;
}

/** Throws `scratch_unavailable`. */
export function stageFor(output: Output, { what, name }: Staging): Stage {
  const env = { ...process.env };
  // What the scratch directory holds is private, and nobody's umask may take it from ourselves.
  process.umask(0o077);
  const interruption = new Interruption(what);
  const scratch = new Scratch(env, name);
  const installation = new Installation(scratch, interruption.signal);
  const audience = new Audience(interruption.signal);
  return { scratch, installation, narrator: new Narrator(output, scratch), interruption, audience, env };
}

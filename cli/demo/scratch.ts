/**
 * The one directory in which everything happens: repository, installation, home, temporary files. Whatever looks for its
 * place in the environment finds it here, so that nothing is written anywhere else.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { OperatingError } from '../../actors/runtime/operatingError.ts';
import { type Places, placesOf } from '../../actors/runtime/places.ts';
import { scripts } from './scripts.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** What of the caller's environment is about the machine and not about the caller's files. */
const kept =
  /^(PATH|LANG|LANGUAGE|LC_.*|TZ|TERM|USER|LOGNAME|SHELL|NODE_OPTIONS|NO_COLOR|CUSTODY_DEBUG|CUSTODY_GUARDIAN_UP)$/;

export class Scratch {
  readonly dir: string;
  /** Unique on this machine and plain ASCII: by it processes of the demonstration are told from all others. */
  readonly name: string;
  readonly repository: string;
  readonly desk: string;
  readonly places: Places;
  readonly env: Environment;

  /** Throws `scratch_unavailable` (exit 10) when the temporary directory cannot be written. `what` becomes part of its name. */
  constructor(callers: Environment, what = 'demo') {
    this.dir = createdIn(resolve(tmpdir()), what);
    this.name = basename(this.dir);
    this.repository = join(this.dir, 'repository');
    this.desk = join(this.dir, 'desk');
    const home = join(this.dir, 'home');
    this.env = {
      ...Object.fromEntries(Object.entries(callers).filter(([name]) => kept.test(name))),
      HOME: home,
      TMPDIR: join(this.dir, 'tmp'),
      XDG_CONFIG_HOME: join(home, '.config'),
      XDG_CACHE_HOME: join(home, '.cache'),
      XDG_DATA_HOME: join(home, '.local', 'share'),
      XDG_STATE_HOME: join(home, '.local', 'state'),
      CUSTODY_HOME: join(this.dir, 'state'),
    };
    this.places = placesOf({ env: this.env });
    this.#furnish();
  }

  #furnish(): void {
    try {
      for (const path of [this.desk, join(this.dir, 'home'), join(this.dir, 'tmp')]) mkdirSync(path);
      for (const [name, text] of Object.entries(scripts)) writeFileSync(join(this.desk, name), text);
    } catch (cause) {
      this.remove();
      throw unavailable(this.dir, cause);
    }
  }

  /** From here on this process and its children live here; native code reads the same variables. */
  enter(): void {
    for (const name of Object.keys(process.env)) if (!(name in this.env)) delete process.env[name];
    Object.assign(process.env, this.env);
  }

  remove(): void {
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

function createdIn(parent: string, what: string): string {
  try {
    return realpathSync(mkdtempSync(join(parent, `custody-${what}-`)));
  } catch (cause) {
    throw unavailable(parent, cause);
  }
}

const unavailable = (path: string, cause: unknown): OperatingError =>
  new OperatingError(
    {
      code: 'scratch_unavailable',
      message: `nothing can be written in ${path} (${(cause as NodeJS.ErrnoException).code})`,
      exitCode: 10,
      next: ['set TMPDIR to a directory with some space that you may write'],
    },
    cause,
  );

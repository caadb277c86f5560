/**
 * Keeps the authority record in each repository's common git directory in step with what was committed (PROMO-01). It is
 * claimed before control is taken and given up after control is gone: what dies in between holds too much, never too little.
 */
import type { GenerationSnapshot } from '../../../machines/worktreeGeneration.ts';
import type { CommitRecord } from '../../host/outcome.ts';
import { everyActor, intact } from '../../runtime/actorAccess.ts';
import { commonDirectoryOf } from '../../runtime/locate.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import {
  type Controlled,
  type ControlRecord,
  claimRepository,
  recordControl,
  recordedControl,
  releaseRepository,
} from '../git/authorityRecord.ts';

type Parts = Pick<Runtime, 'host' | 'store' | 'log'>;

const told: ReadonlySet<string> = new Set([
  'authority.granted',
  'authority.migrated',
  'authority.handoffRequested',
  'authority.handedOff',
  'authority.handoffAbandoned',
  'retirement.receiptVerified',
]);

export class AuthorityRecords {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Before control of the generation is taken. Returns how to give up what was not claimed before, for when nothing comes of
   * it. Throws `not_controller` (exit 4) and `repository_not_writable`.
   */
  claim(generation: GenerationSnapshot): () => void {
    const { installationId } = this.#parts.store;
    const directory = this.#directoryOf(generation);
    if (directory === undefined || recordedControl(directory, installationId) !== undefined) return () => undefined;
    claimRepository(directory, installationId);
    return () => {
      // A decision that was made at the same time may rest on the claim by now.
      if (Object.keys(this.#controlledIn(directory)).length === 0) releaseRepository(directory, installationId);
    };
  }

  /** Before anything is served: what a former daemon had committed and not written down any more. */
  start(): void {
    const directories = new Set<string>();
    for (const { commonGitDir } of this.#parts.store.repositories.list()) directories.add(commonGitDir);
    for (const [, generation] of this.#living()) {
      const directory = this.#directoryOf(generation);
      if (directory !== undefined) directories.add(directory);
    }
    for (const directory of directories) this.#write(directory);
  }

  /** Told of every commit to a generation. */
  follow({ envelope, after }: CommitRecord): void {
    const directory = told.has(envelope.type) ? this.#directoryOf(after as GenerationSnapshot) : undefined;
    if (directory !== undefined) this.#write(directory);
  }

  /** Never throws: what was decided stays decided, and the next change or start writes it again. */
  #write(directory: string): void {
    const { store, log } = this.#parts;
    const { installationId } = store;
    try {
      const recorded = recordedControl(directory, installationId) ?? {};
      const controlled = this.#controlledIn(directory);
      if (Object.keys(controlled).length > 0) recordControl(directory, installationId, controlled);
      else if (Object.keys(recorded).some((id) => this.#isGivenAway(id))) releaseRepository(directory, installationId);
      else if (Object.keys(recorded).length > 0) recordControl(directory, installationId, {});
    } catch (error) {
      const { code } = error as { readonly code?: unknown };
      log.error({ directory, code }, 'the authority record of a repository could not be written');
    }
  }

  #controlledIn(directory: string): Controlled {
    const controlled: Record<string, ControlRecord> = {};
    for (const [id, generation] of this.#living()) {
      const { controller, authorityEpoch, path } = generation.context;
      const mode = String(generation.value.authority);
      if (mode === 'observe' || this.#directoryOf(generation) !== directory) continue;
      controlled[id] = { controller, mode, authorityEpoch, path };
    }
    return controlled;
  }

  #isGivenAway(id: string): boolean {
    const generation = intact(this.#parts.host, 'worktreeGeneration', id);
    return generation !== undefined && generation !== 'corrupt' && generation.matches({ authority: 'observe' });
  }

  *#living(): Generator<readonly [string, GenerationSnapshot]> {
    for (const { id, snapshot } of everyActor(this.#parts.host, 'worktreeGeneration', { settled: false })) {
      if (snapshot !== 'corrupt') yield [id, snapshot];
    }
  }

  /** Undefined where the worktree belongs to no repository that could be found. */
  #directoryOf({ context }: GenerationSnapshot): string | undefined {
    const { repoId, fsIdentity } = context;
    const known = repoId === null ? undefined : this.#parts.store.repositories.find(repoId);
    if (known !== undefined) return known.commonGitDir;
    return fsIdentity.gitdir === '' ? undefined : commonDirectoryOf(fsIdentity.gitdir);
  }
}

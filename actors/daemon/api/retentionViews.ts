/** What retention shows: checkpoints of the journal, and files that were removed. */
interface SpaceView {
  readonly bytes: number;
  readonly freeBytes: number;
  /** Whether the file can become smaller; otherwise its free pages are used again. */
  readonly shrinks: boolean;
}

/** What a checkpoint of the journal removed, or would remove, and why the rest stays. */
export interface CheckpointView {
  readonly dryRun: boolean;
  readonly rows: { readonly before: number; readonly after: number };
  readonly removed: { readonly events: number; readonly bytes: number; readonly effects: number };
  /** Rows by the first reason that was found for them. */
  readonly kept: Readonly<Record<string, number>>;
  /** Oldest and newest position that went. */
  readonly range: readonly [number, number] | null;
  readonly steps: number;
  readonly lastPosition: number;
  readonly space: { readonly before: SpaceView; readonly after: SpaceView };
  readonly eventIdHorizon: { readonly epoch: number; readonly startNumber: number } | null;
}

/** Whose files were removed, or would be, and why others stay. Bytes are known only of what is gone. */
export interface ArtifactsView {
  readonly dryRun: boolean;
  readonly retired: { readonly scopes: number; readonly sessions: number; readonly bytes: number };
  readonly kept: Readonly<Record<string, number>>;
}

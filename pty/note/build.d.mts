export function buildNote(options?: {
  readonly outDir?: string;
  readonly defines?: readonly string[];
  readonly quick?: boolean;
}): string;

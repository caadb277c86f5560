export type GuardianBuildErrorCode = 'compiler_missing' | 'compile_failed';
export class GuardianBuildError extends Error {
  readonly code: GuardianBuildErrorCode;
  readonly exitCode: number;
}
export function sourcesDigest(): string;
export function buildGuardian(options: { outDir: string; defines?: readonly string[]; quick?: boolean }): string;
export function ensureGuardian(): string;

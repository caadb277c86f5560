export type GuardianBuildErrorCode = 'compiler_missing' | 'compile_failed';
export class GuardianBuildError extends Error {
  readonly code: GuardianBuildErrorCode;
  readonly exitCode: number;
}
export interface Program {
  readonly name: string;
  readonly what: string;
  readonly directory: string;
  readonly shared: readonly string[];
}
interface BuildOptions {
  readonly outDir: string;
  readonly defines?: readonly string[];
  readonly quick?: boolean;
}
export function sourcesDigest(program?: Program): string;
export function buildExecutable(options: BuildOptions & { readonly program: Program }): string;
export function buildGuardian(options: BuildOptions): string;
export function ensureGuardian(): string;

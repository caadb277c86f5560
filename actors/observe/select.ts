import { createLinuxAdapter, type LinuxAdapter, type LinuxAdapterOptions } from './linux/adapter.ts';

/** The product refuses to guess where it cannot see (ID-05): no fallback and no empty list. */
export class UnsupportedPlatformError extends Error {
  readonly code = 'unsupported_platform';
  readonly exitCode = 8;
  readonly platform: string;
  readonly missing: readonly string[];
  readonly next: readonly string[] = ['run Custody on Linux; a virtual machine or WSL 2 will do'];

  constructor(platform: string, missing: readonly string[]) {
    super(`processes cannot be observed on ${platform}; missing: ${missing.join(', ')}`);
    this.name = 'UnsupportedPlatformError';
    this.platform = platform;
    this.missing = missing;
  }
}

/** What an adapter has to bring before its platform may be supported (ID-09). */
const CAPABILITIES = [
  'a process token that survives pid reuse',
  'a boot identity',
  'the identity of the PID namespace',
  'a clock that excludes suspend',
  'a guardian that becomes the subreaper of its tree',
] as const;

/** Called by an entry module and nowhere else (ID-04). Throws UnsupportedPlatformError for every platform but Linux. */
export function selectAdapter(platform: string, options: LinuxAdapterOptions): LinuxAdapter {
  if (platform !== 'linux') throw new UnsupportedPlatformError(platform, CAPABILITIES);
  return createLinuxAdapter(options);
}

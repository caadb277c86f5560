export type HostErrorCode =
  | 'request_invalid'
  | 'protocol_unsupported'
  | 'not_the_daemon'
  | 'not_operator'
  | 'session_unknown'
  | 'session_exists'
  | 'session_live'
  | 'session_ended'
  | 'no_terminal'
  | 'transcript_unavailable'
  | 'launch_failed'
  | 'release_failed'
  | 'input_full'
  | 'input_id_reused'
  | 'screen_unavailable'
  | 'pattern_invalid'
  | 'pattern_too_slow'
  | 'host_busy'
  | 'host_gone'
  | 'unresponsive'
  | 'internal_error';

/** An answer of the PTY host that is not what was asked for. */
export class HostError extends Error {
  readonly code: HostErrorCode;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: HostErrorCode, message: string, details: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.name = 'HostError';
    this.code = code;
    this.details = details;
  }
}

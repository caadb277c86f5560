/** What the host itself can refuse. Refused events are outcomes, not errors; a failing store throws StoreError. */
const codes = {
  unknown_actor: { exitCode: 3, retryable: false, next: ['list what exists, e.g. `custody runs list`'] },
  definition_changed: {
    exitCode: 9,
    retryable: false,
    next: ['start the program version that wrote this actor, and report the change of its definition'],
  },
  definition_newer: { exitCode: 9, retryable: false, next: ['start the newer program version that wrote this actor'] },
  definition_older: { exitCode: 9, retryable: false, next: ['start a program version that can still read this actor'] },
  actor_corrupt: { exitCode: 9, retryable: false, next: ['run `custody doctor`', 'restore the last `custody backup`'] },
  host_busy: { exitCode: 10, retryable: true, next: ['retry: too many events are waiting to be written'] },
  host_closed: { exitCode: 10, retryable: true, next: ['retry once the runtime is up again'] },
} as const;

export type HostErrorCode = keyof typeof codes;

export class HostError extends Error {
  override readonly name = 'HostError';
  readonly code: HostErrorCode;
  readonly exitCode: number;
  readonly retryable: boolean;
  readonly next: readonly string[];

  constructor(code: HostErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
    this.exitCode = codes[code].exitCode;
    this.retryable = codes[code].retryable;
    this.next = codes[code].next;
  }
}

/** A bug or a failure that no caller is waiting for; handed to whoever runs the host, who logs it. */
export interface Fault {
  readonly code:
    | 'machine_threw'
    | 'listener_threw'
    | 'effect_failed'
    | 'effect_corrupt'
    | 'send_failed'
    | 'send_refused';
  readonly actor?: { readonly kind: string; readonly id: string };
  /** Event or effect type. */
  readonly type?: string;
  readonly error: unknown;
}

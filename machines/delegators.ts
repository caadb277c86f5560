/** Names of programs that hand work to somebody who does not descend from them; no other word of a recipe is ever kept. */
export const delegatorNames = [
  'tmux',
  'screen',
  'docker',
  'podman',
  'systemd-run',
  'at',
  'batch',
  'ssh',
  'dbus-launch',
  'nsenter',
  'emacsclient',
  'kubectl',
] as const;

export type Delegator = (typeof delegatorNames)[number];

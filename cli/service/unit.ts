/** The unit file of the daemon for `systemd --user` (systemd.service(5), systemd.kill(5), systemd.exec(5)). */
import { unitMark, unitName } from '../../actors/daemon/service/place.ts';
import { startAgainStatus } from '../../actors/daemon/shutdown/startAgain.ts';

export interface UnitParts {
  /** Absolute paths: the service manager looks nothing up, and has another PATH. */
  readonly node: string;
  readonly daemon: string;
  readonly stateDir: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** A daemon that is refused for these reasons is refused again: usage, another one serves, the platform, the store. */
const inVain = [2, 7, 8, 9] as const;

/**
 * `KillMode=process` and `Delegate=yes`: guardians, the PTY host and the work outlive the daemon, whether it is restarted,
 * replaced or killed. `Type=exec`, because Node cannot send what `Type=notify` waits for.
 */
export function unitText({ node, daemon, stateDir, environment }: UnitParts): string {
  const command = [node, daemon, '--state-dir', stateDir, '--foreground', '--service', unitName];
  const variables = Object.entries(environment).map(([name, value]) => `Environment=${quoted(`${name}=${value}`)}`);
  return [
    unitMark,
    `# ${stateLine}${encodeURI(stateDir)}`,
    '[Unit]',
    'Description=Custody, which runs work under guardians',
    '',
    '[Service]',
    'Type=exec',
    `ExecStart=${command.map((word) => quoted(word).replaceAll('$', '$$$$')).join(' ')}`,
    'WorkingDirectory=/',
    ...variables,
    '# Only the daemon is signalled: what it looks after goes on, and its successor adopts it.',
    'KillMode=process',
    'Delegate=yes',
    'Restart=on-failure',
    'RestartSec=1',
    '# How `custody daemon restart --keep-work` asks to be started again.',
    `RestartForceExitStatus=${startAgainStatus}`,
    `RestartPreventExitStatus=${inVain.join(' ')}`,
    '',
    '[Install]',
    'WantedBy=default.target',
    '',
  ].join('\n');
}

const stateLine = 'State directory: ';

/** Which installation a unit of ours is for. */
export function stateDirOf(unit: string): string | undefined {
  const [, line = ''] = unit.split('\n');
  return line.startsWith(`# ${stateLine}`) ? decodeURI(line.slice(stateLine.length + 2)) : undefined;
}

/** In double quotes, with C escapes; `%` begins a specifier everywhere. */
function quoted(text: string): string {
  const escaped = text.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\t', '\\t').replaceAll('%', '%%');
  return `"${escaped}"`;
}

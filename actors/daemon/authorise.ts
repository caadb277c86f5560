/** Whether somebody who has reached the socket may ask for a command (ruling 24). */
import { isWorkloadOver } from '../../machines/ptySession.ts';
import { committed } from '../runtime/actorAccess.ts';
import { operatorKey, type Rights, rightsOf } from '../runtime/credentials.ts';
import { OperatingError } from '../runtime/operatingError.ts';
import { audiences, grantFor } from './api/authority.ts';
import type { CallName, StreamName } from './api/contract.ts';
import type { DaemonContext } from './context.ts';

type Name = CallName | StreamName;

/** Throws `not_operator` (exit 4), and `operator_key_unusable` when this side has no key to compare with. */
export function authorise(context: DaemonContext, name: Name, credential: string | undefined): void {
  const audience = audiences[name];
  if (audience === 'anyone') return;
  const rights = rightsOf(operatorKey(context.places), credential ?? '');
  if (rights?.of === 'operator') return;
  const grant = grantFor(audience);
  if (rights !== undefined && grant !== undefined && rights.grants.includes(grant) && isAtWork(context, rights)) return;
  throw rights === undefined ? unproved(context, name) : beyondRights(rights.sessionId, name);
}

/** What was granted to a session ends with its work. */
function isAtWork({ host }: DaemonContext, rights: Extract<Rights, { of: 'session' }>): boolean {
  const session = committed(host, 'ptySession', rights.sessionId);
  return session !== undefined && !isWorkloadOver(session);
}

const unproved = ({ places, version }: DaemonContext, name: Name): OperatingError =>
  new OperatingError({
    code: 'not_operator',
    message: `${name} is for the operator, and whoever asks does not show that they are`,
    exitCode: 4,
    next: [
      `ask with custody ${version}, as the user of ${places.stateDir}, outside of any run`,
      'repeat the command: the key may just have been made anew',
    ],
  });

function beyondRights(sessionId: string, name: Name): OperatingError {
  const grant = grantFor(audiences[name]);
  return new OperatingError({
    code: 'not_operator',
    message: `agents are not operators: ${sessionId} may not ask for ${name}`,
    exitCode: 4,
    next: [
      'ask the operator',
      ...(grant === undefined ? [] : [`custody runs exec GOAL --pty --grant ${grant} -- CMD... launches one that may`]),
    ],
    details: { sessionId },
  });
}

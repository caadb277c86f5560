import type { Message, Party } from '../../server/contract.ts';
import { StateBadges } from '../shell/badge.tsx';
import { hrefOf } from '../shell/route.ts';
import { kindWord } from '../text/kinds.ts';
import { dateTime } from '../text/quantity.ts';
import { visible } from '../text/visible.ts';

interface MessageDetailProps {
  readonly message: Message;
  readonly parties: readonly Party[];
  readonly close: () => void;
  readonly jump: (position: number) => void;
}

export function MessageDetail({ message, parties, close, jump }: MessageDetailProps) {
  const { position, type, from, to, wallMs, outcome, state, cause, relayed } = message;
  return (
    <section class="message-detail" aria-label="The selected message">
      <strong class="mono">{visible(type)}</strong>
      <span class="faint">{`#${position}, ${dateTime(wallMs)}, ${visible(outcome)}${relayed ? ', relayed' : ''}`}</span>
      <span>
        <PartyLink party={parties.find(({ key }) => key === from)} position={undefined} />
        {' → '}
        <PartyLink party={parties.find(({ key }) => key === to)} position={position} />
      </span>
      {state !== null && <StateBadges states={state} />}
      {cause !== null && (
        <button type="button" class="small" onClick={() => jump(cause)}>
          Its cause, #{cause}
        </button>
      )}
      <button type="button" class="small" onClick={close}>
        Close
      </button>
    </section>
  );
}

interface PartyLinkProps {
  readonly party: Party | undefined;
  /** The receiver is shown as it was right after. */
  readonly position: number | undefined;
}

function PartyLink({ party, position }: PartyLinkProps) {
  if (party === undefined) return <span class="faint">somebody</span>;
  const name = `${kindWord(party.kind)} ${party.label ?? party.id}`;
  if (!party.actor) return <span>{visible(name)}</span>;
  return <a href={hrefOf(['actor', party.kind, party.id], { at: position?.toString() })}>{visible(name)}</a>;
}

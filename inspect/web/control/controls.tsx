/** The few things that a page may ask for where the inspector was started with `--control`. Each is asked once more. */
import { useRef, useState } from 'preact/hooks';
import type { ActorRow, ControlAnswer, ControlRequest } from '../../server/contract.ts';
import { routes } from '../../server/contract.ts';
import { rows } from '../data/fleet.ts';
import { ask, control, ServerError } from '../data/server.ts';
import { kinds } from '../text/kinds.ts';
import { visible } from '../text/visible.ts';

type Intent = ControlRequest extends infer One ? (One extends unknown ? Omit<One, 'requestId'> : never) : never;

interface Choice {
  readonly intent: Intent;
  readonly does: string;
  readonly warning: string;
}

function choiceFor({ kind, id, status }: ActorRow): Choice | undefined {
  if (status !== 'active') return undefined;
  if (kind === 'run')
    return {
      intent: { verb: 'run.stop', runId: id } as Intent,
      does: 'Stop run',
      warning: 'Everything that descends from it is ended. What it has not written is lost.',
    };
  if (kind === 'goal')
    return {
      intent: { verb: 'goal.cancel', goalId: id } as Intent,
      does: 'Cancel Goal',
      warning: 'Its work is ended, and a cancelled Goal is not taken up again.',
    };
  if (kind === 'worktreeGeneration')
    return {
      intent: { verb: 'worktree.close', generationId: id } as Intent,
      does: 'Close worktree',
      warning: 'No further run is let in. What runs there goes on.',
    };
  return undefined;
}

/** It was not done, and may be asked for anew; of whatever else goes wrong nobody knows. */
const isRefused = ({ status }: ServerError): boolean => status >= 400 && status < 500;

/** Runs and sessions at work that end with it; closing a worktree ends none. */
function endingWith({ kind, id, scopeId }: ActorRow): readonly ActorRow[] {
  const isOf = (one: ActorRow): boolean =>
    kind === 'goal' ? one.goalId === id : kind === 'run' && scopeId !== null && one.scopeId === scopeId;
  return rows().filter(
    (one) => (one.kind === 'run' || one.kind === 'ptySession') && one.status === 'active' && isOf(one),
  );
}

function Ending({ row }: { readonly row: ActorRow }) {
  if (row.kind === 'worktreeGeneration') return null;
  const ending = endingWith(row);
  if (ending.length === 0) return <p>Nothing of it is running now.</p>;
  return (
    <>
      <p>This ends:</p>
      <ul class="ending">
        {ending.map((one) => (
          <li key={one.id}>
            {kinds[one.kind].one} {visible(one.label ?? '')} <span class="mono">{visible(one.id)}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

export function Controls({ row }: { readonly row: ActorRow }) {
  const choice = choiceFor(row);
  if (!control.value || choice === undefined) return null;
  return <Control row={row} choice={choice} />;
}

function Control({ row, choice }: { readonly row: ActorRow; readonly choice: Choice }) {
  const [open, setOpen] = useState(false);
  const dialog = useRef<HTMLDialogElement>(null);
  const [said, setSaid] = useState('');
  const [busy, setBusy] = useState(false);
  /** The same until it is answered: an answer that was lost may be asked for again, and it is done once all the same. */
  const requestId = useRef<string | undefined>(undefined);
  const act = async () => {
    setBusy(true);
    setSaid('');
    try {
      requestId.current ??= crypto.randomUUID();
      const body = { requestId: requestId.current, ...choice.intent };
      const { warnings } = await ask<ControlAnswer>(routes.control, { body });
      requestId.current = undefined;
      setSaid(warnings.join(' '));
      if (warnings.length === 0) dialog.current?.close();
    } catch (error) {
      if (error instanceof ServerError && isRefused(error)) requestId.current = undefined;
      setSaid(error instanceof Error ? error.message : String(error));
    }
    setBusy(false);
  };
  return (
    <>
      <button
        type="button"
        class="small danger"
        onClick={() => {
          setOpen(true);
          dialog.current?.showModal();
        }}
      >
        {choice.does} …
      </button>
      <dialog ref={dialog} aria-label={choice.does} onClose={() => setOpen(false)}>
        <h2>{choice.does}?</h2>
        <p>
          <strong>{visible(row.label ?? '')}</strong> <span class="mono">{visible(row.id)}</span>
        </p>
        <p>{choice.warning}</p>
        {open && <Ending row={row} />}
        <p role="status">{visible(said)}</p>
        <div class="dialog-buttons">
          <button type="button" onClick={() => dialog.current?.close()}>
            Leave it
          </button>
          <button type="button" class="danger" disabled={busy} onClick={() => void act()}>
            {choice.does}
          </button>
        </div>
      </dialog>
    </>
  );
}

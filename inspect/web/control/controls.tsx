/** The few things that a page may ask for where the inspector was started with `--control`. Each is asked once more. */
import { useRef, useState } from 'preact/hooks';
import type { ActorRow, ControlAnswer, ControlRequest } from '../../server/contract.ts';
import { routes } from '../../server/contract.ts';
import { ask, control, ServerError } from '../data/server.ts';
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

export function Controls({ row }: { readonly row: ActorRow }) {
  const choice = choiceFor(row);
  if (!control.value || choice === undefined) return null;
  return <Control choice={choice} />;
}

function Control({ choice }: { readonly choice: Choice }) {
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
      <button type="button" class="small danger" onClick={() => dialog.current?.showModal()}>
        {choice.does} …
      </button>
      <dialog ref={dialog} aria-label={choice.does}>
        <h2>{choice.does}?</h2>
        <p>{choice.warning}</p>
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

/** What is said while the page hears nothing: that all it shows is of an earlier moment, and what to do. */
import { useState } from 'preact/hooks';
import { connection, lostSince, retryNow } from '../data/updates.ts';
import { clockTime } from '../text/quantity.ts';

const command = 'custody inspect';

export const asOf = (wallMs: number): string => `as of ${clockTime(wallMs).slice(0, 8)}`;

export function Lost() {
  const since = lostSince.value;
  if (since === undefined) return null;
  return (
    <div class="lost" role="alert" data-lost={since}>
      <strong>
        {`✕ ${connection.value === 'left' ? 'The daemon has left.' : 'The daemon does not answer.'} All of this is ${asOf(since)}.`}
      </strong>
      <span>
        If it was started anew, open the page again with <code>{command}</code> <Copy />
      </span>
      <span>This page goes on by itself as soon as the same inspector answers.</span>
      <button type="button" class="small" onClick={retryNow}>
        Try now
      </button>
    </div>
  );
}

function Copy() {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(command);
    setCopied(true);
  };
  return (
    // Where a browser lets nobody copy, the command can be selected beside it.
    <button type="button" class="small" onClick={() => void copy().catch(() => undefined)}>
      {copied ? 'Copied' : 'Copy'}
    </button>
  );
}

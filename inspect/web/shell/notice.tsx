/** What stands where there is nothing to show, and why. */
import type { ComponentChildren } from 'preact';
import { ServerError } from '../data/server.ts';
import { visible } from '../text/visible.ts';

export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="notice" data-notice="empty">
      <p class="notice-title">{title}</p>
      {children}
    </div>
  );
}

export function Loading({ what }: { readonly what: string }) {
  return (
    <div class="notice" role="status" data-notice="loading">
      <p class="notice-title">Reading {what} …</p>
    </div>
  );
}

interface FailureProps {
  readonly error: Error;
  readonly retry?: () => void;
}

/** The error as the server says it, and what to do next. */
export function Failure({ error, retry }: FailureProps) {
  const next = error instanceof ServerError ? error.next : [];
  return (
    <div class="notice notice-bad" role="alert" data-notice="failure">
      <p class="notice-title">{visible(error.message)}</p>
      {next.map((step) => (
        <p key={step}>
          <code>{visible(step)}</code>
        </p>
      ))}
      {retry !== undefined && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

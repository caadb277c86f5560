import { overview } from '../data/fleet.ts';
import { control } from '../data/server.ts';
import { connection, lostSince, position } from '../data/updates.ts';
import { amount } from '../text/quantity.ts';
import { type Tone, toneOfHealth } from '../text/tone.ts';
import { inWords } from '../text/visible.ts';
import { Badge } from './badge.tsx';
import { helpOpen } from './help.tsx';
import { asOf } from './lost.tsx';
import { hrefOf, view } from './route.ts';
import { theme, toggleTheme } from './theme.ts';
import { navigationOf, views } from './views.ts';

const said: Readonly<Record<string, { readonly word: string; readonly tone: Tone }>> = {
  connecting: { word: 'Connecting', tone: 'waiting' },
  live: { word: 'Live', tone: 'live' },
  reconnecting: { word: 'Reconnecting', tone: 'warn' },
  left: { word: 'Daemon left', tone: 'bad' },
};

export function Header() {
  return (
    <header class="top">
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to content
      </button>
      <span class="brand">Custody</span>
      <nav aria-label="Views">
        <ul>
          {views.map(({ name, label, key }) => (
            <li key={name}>
              <a
                href={hrefOf([name])}
                title={`${label} (g ${key})`}
                aria-current={navigationOf(view.value) === name ? 'page' : undefined}
              >
                {label}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <div class="top-right">
        <Health />
        <ConnectionState />
        <button type="button" class="quiet" onClick={toggleTheme} aria-label={`${other()} colours`} title="Colours (d)">
          {theme.value === 'dark' ? '☀' : '☾'}
        </button>
        <button
          type="button"
          class="quiet"
          onClick={() => {
            helpOpen.value = true;
          }}
          aria-label="Keyboard and signs"
          title="Keyboard and signs (?)"
        >
          ?
        </button>
      </div>
    </header>
  );
}

const other = (): string => (theme.value === 'dark' ? 'Light' : 'Dark');

function Health() {
  const health = overview.value?.health;
  if (health === undefined) return null;
  const lost = lostSince.value;
  if (lost !== undefined) return <Badge tone="warn">{asOf(lost)}</Badge>;
  const word = health.state === 'ok' ? 'Healthy' : inWords(health.state);
  return (
    <a class="health" href={hrefOf(['fleet'])} aria-label={`Health: ${word}`}>
      <Badge tone={toneOfHealth[health.state] ?? 'warn'}>{word}</Badge>
    </a>
  );
}

function ConnectionState() {
  const { word, tone } = said[connection.value]!;
  return (
    <span class="connection" role="status" data-connection={connection.value}>
      <Badge tone={tone}>{word}</Badge>
      {control.value && <span class="control-sign">control</span>}
      <span class="position mono" title="Newest position of the journal">
        #{amount(position.value)}
      </span>
    </span>
  );
}

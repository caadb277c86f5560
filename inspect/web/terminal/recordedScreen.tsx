/** A recording with its controls, and the text that was on the screen at the instant where it stands. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { routes, type ScreenAnswer, type TerminalAnswer } from '../../server/contract.ts';
import { useResource } from '../data/resource.ts';
import { fetched, pathOf } from '../data/server.ts';
import { bind, type KeyBinding, useKeys } from '../shell/keyboard.ts';
import { Failure } from '../shell/notice.tsx';
import { amend, route } from '../shell/route.ts';
import { playTime, size } from '../text/quantity.ts';
import { inWords, visible, visibleLines } from '../text/visible.ts';
import { Player } from './player.ts';
import { parseRecording } from './recording.ts';
import { Screen } from './screen.ts';

const jumpMs = 5_000;
const speeds = [0.5, 1, 2, 4, 8, 16];

export function RecordedScreen({ terminal }: { readonly terminal: TerminalAnswer }) {
  const place = useRef<HTMLDivElement>(null);
  const [player, setPlayer] = useState<Player | undefined>(undefined);
  const [error, setError] = useState<Error | undefined>(undefined);
  const { sessionId } = terminal;
  const lastsMs = terminal.durationMs ?? 0;
  useEffect(() => {
    const screen = new Screen(place.current!);
    const stop = new AbortController();
    let made: Player | undefined;
    const load = async () => {
      const response = await fetched(pathOf(routes.terminalRecording, { id: sessionId }), { signal: stop.signal });
      const recording = parseRecording(await response.text());
      // It goes on after the last output, for as long as the session did.
      made = new Player(screen, { ...recording, durationMs: Math.max(recording.durationMs, lastsMs) });
      // How it ended, unless somebody was sent to an instant.
      made.seek(Number(route.peek().query.t ?? made.durationMs));
      setPlayer(made);
    };
    load().catch((failure: unknown) => {
      if (!stop.signal.aborted) setError(failure as Error);
    });
    return () => {
      stop.abort();
      made?.dispose();
      screen.dispose();
      setPlayer(undefined);
    };
  }, [sessionId, lastsMs]);
  return (
    <>
      {error !== undefined && <Failure error={error} />}
      {player !== undefined && <PlayerControls player={player} />}
      <div class="screen" ref={place} data-terminal="recorded" />
      {player !== undefined && <Seen player={player} sessionId={sessionId} />}
    </>
  );
}

function PlayerControls({ player }: { readonly player: Player }) {
  useKeys(useMemo(() => playerKeys(player), [player]));
  const playing = player.playing.value;
  const time = player.timeMs.value;
  const missing = player.missing.value;
  useEffect(() => {
    if (!playing) amend({ t: String(Math.ceil(player.timeMs.peek())) });
  }, [player, playing]);
  return (
    <div class="player" data-playing={playing} data-time={Math.round(time)}>
      <button type="button" onClick={() => player.toggle()} aria-label={playing ? 'Pause' : 'Play'}>
        {playing ? '❚❚' : '▶'}
      </button>
      <input
        type="range"
        min={0}
        max={Math.ceil(player.durationMs)}
        value={time}
        aria-label="Instant of the recording"
        aria-valuetext={`${playTime(time)} of ${playTime(player.durationMs)}`}
        onInput={({ currentTarget }) => seekTo(player, Number(currentTarget.value))}
      />
      <span class="mono">{`${playTime(time)} / ${playTime(player.durationMs)}`}</span>
      <label>
        <span class="hidden">Speed</span>
        <select
          value={player.speed.value}
          onChange={({ currentTarget }) => {
            player.speed.value = Number(currentTarget.value);
          }}
        >
          {speeds.map((speed) => (
            <option key={speed} value={speed}>
              {`${speed} ×`}
            </option>
          ))}
        </select>
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={player.skipPauses.value}
          onChange={({ currentTarget }) => {
            player.skipPauses.value = currentTarget.checked;
          }}
        />
        shorten pauses
      </label>
      {missing !== '' && (
        <span class="terminal-missing" role="status">
          ▲ Up to here {visible(missing)}
        </span>
      )}
    </div>
  );
}

function seekTo(player: Player, timeMs: number): void {
  player.seek(timeMs);
  if (!player.playing.peek()) amend({ t: String(Math.ceil(player.timeMs.peek())) });
}

/** The server's own account of the screen at that instant: what an agent that read it then was given. */
function Seen({ player, sessionId }: { readonly player: Player; readonly sessionId: string }) {
  const [open, setOpen] = useState(false);
  // The output of this very millisecond has been seen.
  const timeMs = Math.ceil(player.timeMs.value);
  const wanted = open && !player.playing.value;
  const path = wanted ? pathOf(routes.terminalScreen, { id: sessionId }, { timeMs }) : undefined;
  const { data, error } = useResource<ScreenAnswer>(path);
  return (
    <details class="seen" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>What the agent saw at {playTime(timeMs)}</summary>
      {player.playing.value && <p class="faint">Pause to read it.</p>}
      {error !== undefined && <Failure error={error} />}
      {data !== undefined && data.missing !== null && (
        <p class="terminal-missing">
          ▲ {size(data.missing.bytes)} before this are missing ({inWords(data.missing.reason)}): it may have been
          another screen.
        </p>
      )}
      {data !== undefined && (
        <pre class="mono" data-offset={data.offset}>
          {visibleLines(data.lines.join('\n').trimEnd())}
        </pre>
      )}
    </details>
  );
}

function playerKeys(player: Player): readonly KeyBinding[] {
  const faster = (by: -1 | 1) => {
    const index = speeds.indexOf(player.speed.peek()) + by;
    player.speed.value = speeds[Math.min(speeds.length - 1, Math.max(0, index))]!;
  };
  return [
    bind([' '], 'play or pause', () => player.toggle()),
    bind(['ArrowLeft'], 'five seconds back', () => seekTo(player, player.timeMs.peek() - jumpMs)),
    bind(['ArrowRight'], 'five seconds on', () => seekTo(player, player.timeMs.peek() + jumpMs)),
    bind(['Home'], '', () => seekTo(player, 0)),
    bind(['End'], '', () => seekTo(player, player.durationMs)),
    bind(['>'], 'faster', () => faster(1)),
    bind(['<'], 'slower', () => faster(-1)),
  ];
}

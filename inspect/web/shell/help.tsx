import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { signOf, type Tone } from '../text/tone.ts';
import { bindings } from './keyboard.ts';

export const helpOpen = signal(false);

const meaning: Readonly<Record<Tone, string>> = {
  live: 'at work',
  waiting: 'on its way, or waits for something',
  warn: 'not proved, or not known for certain',
  bad: 'failed, or needs somebody',
  done: 'ended well, or proved',
  idle: 'at rest, or over without a result that is known',
};

const spoken: Readonly<Record<string, string>> = {
  ' ': 'Space',
  ArrowLeft: '←',
  ArrowRight: '→',
  ArrowUp: '↑',
  ArrowDown: '↓',
  Escape: 'Esc',
};

const keyWords = (keys: string): string => spoken[keys] ?? keys;

export function Help() {
  const dialog = useRef<HTMLDialogElement>(null);
  const open = helpOpen.value;
  useEffect(() => {
    if (open) dialog.current?.showModal();
    else dialog.current?.close();
  }, [open]);
  const all = bindings.value.flat().filter(({ does }) => does !== '');
  return (
    <dialog
      ref={dialog}
      class="help"
      aria-labelledby="help-title"
      onClose={() => {
        helpOpen.value = false;
      }}
    >
      {open && (
        <>
          <div class="help-head">
            <h2 id="help-title">Keyboard and signs</h2>
            <button type="button" class="quiet" aria-label="Close" onClick={() => dialog.current?.close()}>
              ✕
            </button>
          </div>
          <dl class="keys">
            {all.map(({ keys, does }) => (
              <div key={keys.join()}>
                <dt>
                  {keys.map((one) => (
                    <kbd key={one}>{keyWords(one)}</kbd>
                  ))}
                </dt>
                <dd>{does}</dd>
              </div>
            ))}
          </dl>
          <dl class="signs">
            {(Object.keys(signOf) as Tone[]).map((tone) => (
              <div key={tone}>
                <dt class={`tone-${tone}`}>
                  <span class="sign">{signOf[tone]}</span>
                </dt>
                <dd>{meaning[tone]}</dd>
              </div>
            ))}
          </dl>
        </>
      )}
    </dialog>
  );
}

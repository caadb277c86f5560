/** Light or dark: what the system prefers, until somebody chooses for this tab. */
import { computed, effect, signal } from '@preact/signals';

export type Theme = 'light' | 'dark';

const key = 'custody.theme';
const system = matchMedia('(prefers-color-scheme: dark)');
const preferred = signal<Theme>(system.matches ? 'dark' : 'light');
const chosen = signal<Theme | undefined>(remembered());

system.addEventListener('change', ({ matches }) => {
  preferred.value = matches ? 'dark' : 'light';
});

export const theme = computed<Theme>(() => chosen.value ?? preferred.value);

effect(() => {
  document.documentElement.dataset.theme = theme.value;
});

/** The other one; choosing what the system prefers is no choice, so the system may change again. */
export function toggleTheme(): void {
  const other = theme.value === 'dark' ? 'light' : 'dark';
  chosen.value = other === preferred.value ? undefined : other;
  if (chosen.value === undefined) sessionStorage.removeItem(key);
  else sessionStorage.setItem(key, chosen.value);
}

function remembered(): Theme | undefined {
  const value = sessionStorage.getItem(key);
  return value === 'light' || value === 'dark' ? value : undefined;
}

/** True where somebody asked the system for less movement. */
export const stillness = signal(matchMedia('(prefers-reduced-motion: reduce)').matches);
matchMedia('(prefers-reduced-motion: reduce)').addEventListener('change', ({ matches }) => {
  stillness.value = matches;
});

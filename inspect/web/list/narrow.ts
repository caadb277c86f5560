import { signal } from '@preact/signals';

/** The width below which a row takes two lines; the style sheets say the same. */
const phone = matchMedia('(max-width: 700px)');

export const narrow = signal(phone.matches);
phone.addEventListener('change', ({ matches }) => {
  narrow.value = matches;
});

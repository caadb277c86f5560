/** What is wrong with a field that somebody else has written, in our own words: those of a library change with it. */
import type { z } from 'zod';

const words: Readonly<Partial<Record<z.core.$ZodIssue['code'], string>>> = {
  invalid_type: 'wrong_type',
  invalid_value: 'not_allowed',
  invalid_union: 'not_allowed',
  invalid_format: 'wrong_form',
  custom: 'not_allowed',
  too_big: 'too_large',
  too_small: 'too_small',
  unrecognized_keys: 'unknown_field',
};

export function problemWord(issue: z.core.$ZodIssue): string {
  const isMissing = issue.code === 'invalid_type' && issue.message.endsWith('received undefined');
  return isMissing ? 'missing_field' : (words[issue.code] ?? 'invalid');
}

/**
 * A thread that compares one value with one JSON Schema and is thrown away. Both were written by somebody else: a pattern
 * may take a regular expression engine for ever, and then this thread is ended and nothing else has waited.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Question, Verdict } from './check.ts';

/**
 * Keywords that nobody knows are refused, because a misspelt one would check nothing. What else strict mode dislikes is
 * valid. `format` is an annotation, as draft 2020-12 has it by default.
 */
const options = {
  strictTypes: false,
  strictTuples: false,
  strictRequired: false,
  validateFormats: false,
  logger: false,
} as const;

const isDraft7 = (schema: object): boolean =>
  '$schema' in schema && /^http:\/\/json-schema\.org\/draft-07\/schema#?$/.test(String(schema.$schema));

function verdictOn({ schema: text, value }: Question): Verdict {
  const schema = JSON.parse(text) as object;
  const ajv = new (isDraft7(schema) ? Ajv : Ajv2020)(options);
  let fits: ReturnType<typeof ajv.compile>;
  try {
    fits = ajv.compile(schema);
  } catch (error) {
    return { is: 'unusable', message: (error as Error).message };
  }
  try {
    if (value === undefined || fits(JSON.parse(value))) return { is: 'valid' };
  } catch (error) {
    // A schema that refers to itself without going down into the value, or a value that goes down for ever.
    if (error instanceof RangeError) return { is: 'endless', message: 'it is nested without an end' };
    throw error;
  }
  const [first] = fits.errors ?? [];
  return { is: 'invalid', message: `${first?.instancePath || 'it'} ${first?.message ?? 'does not fit'}` };
}

parentPort?.postMessage('ready');
parentPort?.postMessage(verdictOn(workerData as Question));

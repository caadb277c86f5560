/** The JSON Schema that the result of a session has to fit: kept with the launch, asked when the agent reports. */
import { readFile, rm } from 'node:fs/promises';
import { OperatingError } from '../../runtime/operatingError.ts';
import { Serial } from '../../runtime/serial.ts';
import type { DaemonContext } from '../context.ts';
import { checkAgainstSchema, type Verdict } from '../schema/check.ts';
import { keepPrivateText } from './privateText.ts';
import { schemaFile } from './resultFiles.ts';

type Parts = Pick<DaemonContext, 'places' | 'schemaWorker'>;

/** Throws `result_schema_unusable` (exit 2) for what is no JSON Schema that can be gone by. */
export async function keepResultSchema(parts: Parts, sessionId: string, schema: string): Promise<void> {
  const verdict = await checkAgainstSchema(parts.schemaWorker, { schema });
  if (verdict.is !== 'valid') throw unusable(verdict.message);
  await keepPrivateText(schemaFile(parts, sessionId), schema);
}

/** Of a launch that was refused: nobody would ever ask for it, or remove it. */
export const dropResultSchema = (parts: Parts, sessionId: string): Promise<void> =>
  rm(schemaFile(parts, sessionId), { force: true });

const unusable = (why: string): OperatingError =>
  new OperatingError({
    code: 'result_schema_unusable',
    message: `the result schema cannot be used: ${why}`,
    exitCode: 2,
    next: ['give a JSON Schema (draft 2020-12 or 07) without remote references'],
  });

export interface Problem {
  readonly reasonCode: 'not_json' | 'schema_invalid' | 'schema_unusable' | 'schema_endless';
  readonly message: string;
}

/** One thread at a time for each session, however often its agent reports. */
const perSession = new Serial();

/** Undefined for a result that counts. */
export async function problemOf(parts: Parts, sessionId: string, text: string): Promise<Problem | undefined> {
  try {
    JSON.parse(text);
  } catch {
    return { reasonCode: 'not_json', message: 'it is not JSON' };
  }
  const schema = await schemaOf(parts, sessionId);
  if (schema === undefined) return undefined;
  const verdict = await perSession.run(sessionId, () =>
    checkAgainstSchema(parts.schemaWorker, { schema, value: text }),
  );
  return verdict.is === 'valid' ? undefined : problemIn(verdict);
}

function problemIn(verdict: Exclude<Verdict, { is: 'valid' }>): Problem {
  const { message } = verdict;
  if (verdict.is === 'invalid') return { reasonCode: 'schema_invalid', message };
  if (verdict.is === 'unusable') return { reasonCode: 'schema_unusable', message: `its schema says: ${message}` };
  return { reasonCode: 'schema_endless', message: `it cannot be compared with its schema: ${message}` };
}

async function schemaOf(parts: Parts, sessionId: string): Promise<string | undefined> {
  try {
    return await readFile(schemaFile(parts, sessionId), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

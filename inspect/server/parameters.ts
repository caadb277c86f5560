/** What stands in an address or a body, checked before anything is looked up. What nobody asked for is an error as well. */
import type { Context } from 'hono';
import { z } from 'zod';
import { actorKinds } from '../../machines/ids.ts';
import { invalid, Refusal } from './access/refusal.ts';
import { type MetricsWindow, metricsWindows, refusals } from './contract.ts';

const id = z.string().min(1).max(64);
const kind = z.enum(actorKinds);
/** An empty value would count as 0. */
const whole = z
  .string()
  .regex(/^\d{1,16}$/, 'has to be a whole number')
  .transform(Number);
const position = whole.pipe(z.number().max(Number.MAX_SAFE_INTEGER));
const limit = whole.pipe(z.number().min(1).max(500));

export const schemas = {
  actor: z.strictObject({ kind, id }),
  kind: z.strictObject({ kind }),
  id: z.strictObject({ id }),
  nothing: z.strictObject({}),
  journal: z.strictObject({
    before: position.optional(),
    limit: limit.optional(),
  }),
  moment: z.strictObject({ position: position }),
  sequence: z
    .strictObject({
      after: position.optional(),
      before: position.optional(),
      limit: limit.optional(),
      kind: kind.optional(),
      id: id.optional(),
      goal: id.optional(),
    })
    .refine((range) => (range.kind === undefined) === (range.id === undefined), 'kind and id go together')
    .refine((range) => range.kind === undefined || range.goal === undefined, 'either an actor or a Goal'),
  processes: z.strictObject({ all: z.literal('1').optional() }),
  instant: z.union([z.strictObject({ offset: position }), z.strictObject({ timeMs: position })]),
  metrics: z.strictObject({ window: z.enum(Object.keys(metricsWindows) as MetricsWindow[]) }),
  updates: z.strictObject({ after: position.optional() }),
  open: z.strictObject({ code: z.string().min(1).max(128) }),
} as const;

function checked<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const where = issue?.path.join('.') ?? '';
  throw invalid(`${where === '' ? '' : `${where}: `}${issue?.message ?? 'not understood'}`);
}

/** Throws a Refusal (400). A repeated name is one too many. */
export function queryOf<Schema extends z.ZodType>({ req }: Context, schema: Schema): z.output<Schema> {
  const entries = Object.entries(req.queries());
  const repeated = entries.find(([, values]) => values.length > 1);
  if (repeated !== undefined) throw invalid(`${repeated[0]} is given more than once`);
  return checked(schema, Object.fromEntries(entries.map(([name, [value]]) => [name, value])));
}

export const pathOf = <Schema extends z.ZodType>({ req }: Context, schema: Schema): z.output<Schema> =>
  checked(schema, req.param());

export const largestBody = 16_384;

export const tooLarge = (): Refusal => new Refusal(refusals.tooLarge, `a body may have ${largestBody} bytes`);

/** Throws a Refusal: 413, or 400 for what is no JSON of that shape. */
export async function bodyOf<Schema extends z.ZodType>({ req }: Context, schema: Schema): Promise<z.output<Schema>> {
  if (!/^application\/json\b/.test(req.header('content-type') ?? ''))
    throw invalid('the body has to be application/json');
  let text: string;
  try {
    text = await req.text();
  } catch (error) {
    if ((error as Error).name !== 'BodyLimitError') throw invalid('the body did not come whole');
    throw tooLarge();
  }
  try {
    return checked(schema, JSON.parse(text));
  } catch (error) {
    throw error instanceof SyntaxError ? invalid('the body is not JSON') : error;
  }
}

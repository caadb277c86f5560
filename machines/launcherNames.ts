/** What launchers call themselves and their runs: words without spaces, so that none of them can hold a command line. */
import { z } from 'zod';

/** The launcher's own word for one run; two producers may use the same. */
export const runNameSchema = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/);
export const producerSchema = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/);

export interface LauncherName {
  readonly producer: string;
  readonly run: string;
}

/** `producer:run` as people read and type it; a producer has no colon, so the first one ends it. */
export const launcherNameText = ({ producer, run }: LauncherName): string => `${producer}:${run}`;

/** Undefined for what is no such name. */
export function parseLauncherName(text: string): LauncherName | undefined {
  const colon = text.indexOf(':');
  const [producer, run] = [text.slice(0, Math.max(colon, 0)), text.slice(colon + 1)];
  const isName = producerSchema.safeParse(producer).success && runNameSchema.safeParse(run).success;
  return isName ? { producer, run } : undefined;
}

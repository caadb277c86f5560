/** The inspector, for the operator: opened where it can be looked at, and closed. */
import type { ParsedArguments } from '../api/contract.ts';
import type { CallResults } from '../api/results.ts';
import type { Answer, DaemonContext } from '../context.ts';

export async function openInspector(
  { inspector }: DaemonContext,
  { tcpPort, control, allowOrigins }: ParsedArguments<'inspect.open'>,
): Promise<Answer<CallResults['inspect.open']>> {
  const opened = await inspector.open({ tcpPort, control, origins: allowOrigins });
  return { data: { ...opened, control } };
}

export async function closeInspector({ inspector }: DaemonContext): Promise<Answer<CallResults['inspect.close']>> {
  return { data: { closed: await inspector.close() } };
}

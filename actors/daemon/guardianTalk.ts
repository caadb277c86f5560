/**
 * Questions to guardians for display: who is in the tree, and does the guardian answer at all. An answer that does not
 * come is a finding with the time since when, and never a statement about the work (ruling 9).
 */
import { join } from 'node:path';
import { controlClient } from '../../pty/launch/control.ts';
import { ControlError } from '../../pty/launch/controlError.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { ProcessView } from './api/views.ts';
import type { Findings } from './findings.ts';

export interface Membership {
  readonly members: readonly ProcessView[];
  readonly total: number;
}

export interface GuardianTalk {
  /** Current descendants, or undefined when the guardian did not say. Notes silence as a finding. */
  members(scopeId: string): Promise<Membership | undefined>;
}

type Parts = Pick<Runtime, 'places' | 'config' | 'adapter'> & { readonly findings: Findings };

export const silence = 'guardian_silent';

export function createGuardianTalk({ places, config, adapter, findings }: Parts): GuardianTalk {
  return {
    async members(scopeId) {
      let client: Awaited<ReturnType<typeof controlClient>> | undefined;
      try {
        client = await controlClient(join(places.scopesDir, scopeId), { timeoutMs: config.responseMs });
        const { members, total } = await client.members();
        findings.clear(scopeId, silence);
        const named = members.map(({ pid, state, ppid }) => {
          const name = adapter.nameOf(pid);
          return { pid, state, ppid, ...(name === undefined ? {} : { name }) };
        });
        return { total, members: named };
      } catch (error) {
        if (!(error instanceof ControlError)) throw error;
        if (error.code === 'unresponsive') {
          findings.add({
            scopeId,
            code: silence,
            detail: `its guardian is alive and did not answer within ${config.responseMs} ms`,
          });
        }
        return undefined;
      } finally {
        client?.close();
      }
    },
  };
}

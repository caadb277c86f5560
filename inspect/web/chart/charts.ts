/** The charts that were asked for: one for each kind as long as the daemon is the same. */
import { signal } from '@preact/signals';
import { routes } from '../../server/contract.ts';
import { ask, pathOf } from '../data/server.ts';
import type { PlacedChart } from './placedChart.ts';

export const charts = signal<Readonly<Record<string, PlacedChart | Error>>>({});
const asked = new Set<string>();

/** Read `charts` for the answer; a refusal is kept until somebody asks again with `again`. */
export function wantChart(kind: string, again = false): void {
  if (asked.has(kind) && !again) return;
  asked.add(kind);
  void load(kind);
}

async function load(kind: string): Promise<void> {
  try {
    const placed = await ask<PlacedChart>(pathOf(routes.chart, { kind }));
    charts.value = { ...charts.peek(), [kind]: placed };
  } catch (error) {
    charts.value = { ...charts.peek(), [kind]: error as Error };
    asked.delete(kind);
  }
}

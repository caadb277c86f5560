/** D10: a Goal is cancelled at any moment of a launch; each time nobody is left, and the answer says what was observed. */
import { expectThat } from '../../demo/expectation.ts';
import { type Drill, type Drilling, exec, patienceMs, workplace } from '../drill.ts';

const tries = 12;
/** A launch takes some tens of milliseconds; the cancellations are spread over it, and beyond. */
const stepMs = 4;

async function stopAnywhere(drilling: Drilling): Promise<readonly string[]> {
  const seen = new Map<string, number>();
  for (let nth = 0; nth < tries; nth += 1) {
    const how = await cancelledAfter(drilling, nth * stepMs);
    seen.set(how, (seen.get(how) ?? 0) + 1);
  }
  const counts = [...seen].map(([how, count]) => `${count} ${how}`);
  return [
    `${tries} cancellations within ${(tries - 1) * stepMs} ms: ${counts.join(', ')}`,
    'nobody was left, each time',
  ];
}

async function cancelledAfter(drilling: Drilling, ms: number): Promise<string> {
  const { installation } = drilling;
  const place = await workplace(drilling, 'stop anywhere');
  const launching = exec(drilling, place, { script: 'exec sleep 600' }).then(
    () => 'launched',
    ({ code }: { readonly code: string }) => code,
  );
  await new Promise((resolve) => setTimeout(resolve, ms));
  const cancel = () => installation.call('goals.cancel', { id: place.goalId, waitMs: patienceMs });
  const first = await cancel();
  const launch = await launching;
  const isKnown = ['launched', 'launch_abandoned', 'not_released', 'preconditions_unmet'].includes(launch);
  expectThat(isKnown, 'the launch is answered with what became of it', launch);
  const { scopes } = await installation.call('processes', {});
  const left = scopes.filter(({ goalId }) => goalId === place.goalId);
  expectThat(first.status === 'cancelled' && left.length === 0, 'nobody is left', { status: first.status, left });
  const second = await cancel();
  expectThat(second.status === 'cancelled', 'asking again changes nothing', second.status);
  return launch === 'launched' ? 'after the launch' : 'before anything ran';
}

export const stopDrills: readonly Drill[] = [
  { name: 'D10', title: 'a stop may come at any moment of a launch', run: stopAnywhere },
];

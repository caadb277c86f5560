/** events: the journal, as it is written. */
import type { Command } from 'commander';
import type { EventView } from '../../actors/daemon/api/views.ts';
import { action } from '../action.ts';
import { parseWhole } from '../duration.ts';
import { daemonGone, usage } from '../failure.ts';
import { example } from '../globalOptions.ts';
import type { Invocation } from '../invocation.ts';
import { eventLine, eventLines } from '../print/events.ts';

interface EventOptions {
  readonly since?: number;
  readonly actor?: string;
  readonly type?: string;
  readonly limit?: number;
  readonly follow?: boolean;
}

export function registerEvents(program: Command): void {
  example(
    program
      .command('events')
      .description('what was recorded, in order')
      .option(
        '--since <position>',
        'only what follows this position (default: the newest; with --follow everything)',
        parseWhole(0, Number.MAX_SAFE_INTEGER),
      )
      .option('--actor <id>', 'only what concerns this Goal, run, worktree or scope')
      .option('--type <type>', 'only this type of event')
      .option(
        '-n, --limit <n>',
        'at most this many: the last ones, or the first ones after --since (default: 200; with --follow all)',
        parseWhole(1, 1_000),
      )
      .option(
        '-f, --follow',
        'then go on with what is recorded from now on, beginning with the last --limit (with --json: JSON lines)',
      )
      .action(action(events)),
    'custody events --actor R2c',
    'custody events --follow --limit 20',
  );
}

async function events(invocation: Invocation, options: EventOptions): Promise<number> {
  const { since, actor, type, limit, follow } = options;
  const { output } = invocation;
  if (!follow) {
    return output.answer(await invocation.call('events', { since, actor, type, limit }), eventLines);
  }
  if (since !== undefined && limit !== undefined)
    throw usage('--follow goes on from --since, or from the last --limit, not from both', ['custody events --help']);
  let last = since ?? 0;
  const show = (event: EventView) => {
    if (output.json) output.record(event);
    else output.text(eventLine(event, output.style));
    last = event.position;
  };
  if (limit !== undefined) (await invocation.call('events', { actor, type, limit })).data.events.forEach(show);
  for await (const event of invocation.stream<EventView>('events.follow', { since: last, actor, type })) show(event);
  // The journal has no end, so whoever wrote to this stream has.
  throw daemonGone(undefined, `custody events --follow --since ${last}`);
}

/** inspect: a page that shows everything that lives here, as it happens and as it happened. */
import { type Command, InvalidArgumentError } from 'commander';
import { action } from '../action.ts';
import { parseWhole } from '../duration.ts';
import { collect, example } from '../globalOptions.ts';
import type { Invocation } from '../invocation.ts';
import { hasScreen, openBrowser, redirectFile } from '../openBrowser.ts';
import { line } from '../print/escape.ts';
import { closedLines, inspectLines } from '../print/inspect.ts';

interface InspectOptions {
  readonly port?: number;
  readonly control?: boolean;
  readonly open: boolean;
  readonly allowOrigin?: readonly string[];
  readonly close?: boolean;
}

export function registerInspect(program: Command): void {
  const command = program
    .command('inspect')
    .description('look at every machine that lives here, in a browser on this machine')
    .option('--port <n>', 'on this port of 127.0.0.1 (default: one that is free)', parseWhole(1, 65_535))
    .option('--control', 'the page may also stop runs, cancel Goals and close worktrees')
    .option('--no-open', 'print the address, and start no browser')
    .option('--allow-origin <origin>', 'pages of this origin may read the inspection protocol (repeatable)', origin)
    .option('--close', 'close it for everybody who looks')
    .action(action(inspect));
  example(command, 'custody inspect', 'custody inspect --no-open --allow-origin https://stately.ai');
}

function origin(value: string, former: readonly string[] | undefined): string[] {
  if (!/^https?:\/\/[^/?#\s]{1,255}$/.test(value)) throw new InvalidArgumentError('It has to be scheme://host[:port].');
  return collect(value, former);
}

async function inspect(invocation: Invocation, options: InspectOptions): Promise<number> {
  const { output } = invocation;
  if (options.close) return output.answer(await invocation.call('inspect.close', {}), closedLines);
  const { control = false, allowOrigin: allowOrigins = [] } = options;
  const answer = await invocation.call('inspect.open', {
    ...(options.port === undefined ? {} : { tcpPort: options.port }),
    ...{ control, allowOrigins: [...allowOrigins] },
  });
  const status = output.answer(answer, inspectLines, ({ url }) => [url]);
  const isWatched = process.stdout.isTTY === true && !output.json && !output.quiet;
  if (!options.open || !isWatched) return status;
  if (hasScreen(process.env)) await show(invocation, answer.data.url);
  else output.note('there is no screen here for a browser; open the address yourself, once');
  return status;
}

async function show({ places, output }: Invocation, url: string): Promise<void> {
  const isOpened = await openBrowser(redirectFile(places, url));
  // A browser in a box of its own (snap, Flatpak) may read no file below a hidden directory.
  if (isOpened) output.note(line`a browser was asked to show it; if nothing comes up, open the address yourself`);
  else output.note(line`no browser could be started (xdg-open is missing); open the address yourself`);
}

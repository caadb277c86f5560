/** The command tree as data, from which the scripts for each shell are written. */
import type { Command, Option } from 'commander';

/** What may stand in a place: ids that the daemon knows, one of some words, a file, or nothing that we could list. */
export type Completer =
  | { readonly kind: 'ids'; readonly of: IdKind }
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'files' }
  | { readonly kind: 'command' }
  | { readonly kind: 'none' };

export const idKinds = ['goals', 'runs', 'worktrees', 'sessions', 'actors'] as const;
export type IdKind = (typeof idKinds)[number];

export interface OptionShape {
  readonly flags: readonly string[];
  readonly description: string;
  /** Absent for switches; options whose value may be left out count as switches. */
  readonly value?: Completer;
}

export interface CommandShape {
  /** `custody goals add` */
  readonly path: string;
  readonly name: string;
  readonly description: string;
  readonly options: readonly OptionShape[];
  readonly operands: readonly Completer[];
  readonly children: readonly CommandShape[];
}

export function shapeOf(command: Command, parent = ''): CommandShape {
  const path = parent === '' ? command.name() : `${parent} ${command.name()}`;
  const help = command.createHelp();
  const children = help.visibleCommands(command).filter((child) => child.name() !== 'help');
  const shapes = children.map((child) => shapeOf(child, path));
  return {
    path,
    name: command.name(),
    description: command.description(),
    options: help.visibleOptions(command).map(optionShape),
    operands: command.registeredArguments.map((argument) =>
      argument.argChoices ? { kind: 'words', words: argument.argChoices } : completerFor(argument.name()),
    ),
    children: parent === '' ? [...shapes, helpShape(path, shapes)] : shapes,
  };
}

export function everyCommand(shape: CommandShape): CommandShape[] {
  return [shape, ...shape.children.flatMap(everyCommand)];
}

function helpShape(parent: string, commands: readonly CommandShape[]): CommandShape {
  const words = commands.map(({ name }) => name);
  const description = 'how to use a command';
  return {
    path: `${parent} help`,
    name: 'help',
    description,
    options: [],
    operands: [{ kind: 'words', words }],
    children: [],
  };
}

function optionShape(option: Option): OptionShape {
  const flags = [option.short, option.long].filter((flag) => flag !== undefined);
  const { description } = option;
  if (!option.required) return { flags, description };
  const placeholder = /<([^>]+)>/.exec(option.flags)?.[1] ?? '';
  const value: Completer = option.argChoices ? { kind: 'words', words: option.argChoices } : completerFor(placeholder);
  return { flags, description, value };
}

/** Placeholders mean the same thing wherever they stand, so they are all that completion has to know. */
function completerFor(placeholder: string): Completer {
  switch (placeholder) {
    case 'goal':
      return { kind: 'ids', of: 'goals' };
    case 'run':
      return { kind: 'ids', of: 'runs' };
    case 'worktree':
      return { kind: 'ids', of: 'worktrees' };
    case 'session':
      return { kind: 'ids', of: 'sessions' };
    case 'id':
      return { kind: 'ids', of: 'actors' };
    case 'file':
    case 'path':
    case 'dir':
      return { kind: 'files' };
    case 'command':
      return { kind: 'command' };
    default:
      return { kind: 'none' };
  }
}

/** One word for a completer, as the scripts store it: `ids:goals`, `words:bash zsh fish`, `files`, … */
export function encoded(completer: Completer): string {
  if (completer.kind === 'ids') return `ids:${completer.of}`;
  return completer.kind === 'words' ? `words:${completer.words.join(' ')}` : completer.kind;
}

/** First sentence part, short enough for a menu. */
export const menuText = (description: string): string => (description.split(/[;(]/)[0] as string).trim();

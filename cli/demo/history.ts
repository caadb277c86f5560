/** A small repository with a real history, for a machine on which there is no checkout to borrow one from. */

interface Commit {
  readonly message: string;
  readonly files: Readonly<Record<string, string>>;
}

const commits: readonly Commit[] = [
  {
    message: 'Start a list of tides',
    files: {
      'README.md': '# Tides\n\nHigh water at three harbours, a line each.\n',
      'tides.txt': 'Saint-Malo 06:12\nCuxhaven 04:40\n',
    },
  },
  {
    message: 'Add the third harbour',
    files: { 'tides.txt': 'Saint-Malo 06:12\nCuxhaven 04:40\nReykjavík 05:58\n' },
  },
  {
    message: 'Print the earliest tide',
    files: { 'earliest.sh': '#!/bin/sh\nsort -k 2 tides.txt | head -n 1\n' },
  },
];

const firstCommitAt = 1_700_000_000;
const aDay = 86_400;

const counted = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`;

/** The history in the form that git-fast-import(1) reads: one process instead of a dozen. */
export const historyStream = (): string =>
  commits
    .map(({ message, files }, at) =>
      [
        'commit refs/heads/main\n',
        `committer Demo <demo@example.org> ${firstCommitAt + at * aDay} +0000\n`,
        counted(message),
        ...Object.entries(files).map(([path, text]) => `M 100644 inline ${path}\n${counted(text)}`),
        '\n',
      ].join(''),
    )
    .join('');

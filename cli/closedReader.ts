/**
 * A reader that has seen enough (`| head`) is no failure of this program: it ends at once, with 0. An answer that cannot
 * be written for another reason (a full disk) must not look like one that was given.
 */
export function endWithReader(stream: NodeJS.WriteStream): void {
  stream.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE') process.exit(0);
    if (stream !== process.stderr) process.stderr.write(`error: the answer could not be written (${code})\n`);
    process.exit(1);
  });
}

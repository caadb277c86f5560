/** A reader that has seen enough (`| head`) is no failure of this program: it ends at once, with 0. */
export function endWithReader(stream: NodeJS.WriteStream): void {
  stream.on('error', (cause: NodeJS.ErrnoException) => {
    if (cause.code === 'EPIPE') process.exit(0);
    throw cause;
  });
}

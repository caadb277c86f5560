declare module 'parse-prometheus-text-format' {
  // biome-ignore lint/suspicious/noExplicitAny: it brings no types along.
  export default function parse(text: string): any;
}

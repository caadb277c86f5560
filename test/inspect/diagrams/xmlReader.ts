/** A strict reader of the XML that is printed here: elements with attributes, comments and text, and nothing unclosed. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly parent: XmlElement | null;
  readonly children: XmlElement[];
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' };

function plain(text: string): string {
  if (/[<"]/.test(text)) throw new SyntaxError(`markup in ${text}`);
  return text.replace(/&(\w*);?/g, (whole, name: string) => {
    const letter = entities[name];
    if (letter === undefined || !whole.endsWith(';')) throw new SyntaxError(`no entity ${whole}`);
    return letter;
  });
}

/** Every element, parents first. Throws SyntaxError for what is not well formed. */
export function elementsOf(xml: string): XmlElement[] {
  const found: XmlElement[] = [];
  let open: XmlElement | null = null;
  const token = /<\?[^>]*\?>|<!--(?:(?!--)[\s\S])*-->|<(\/?)([\w:-]+)((?:\s+[\w:-]+="[^"<]*")*)\s*(\/?)>|[^<]+/g;
  let end = 0;
  for (const match of xml.matchAll(token)) {
    if (match.index !== end) throw new SyntaxError(`not XML: ${xml.slice(end, end + 60)}`);
    end += match[0].length;
    const [, closing, name, attributes = '', empty] = match;
    if (name === undefined) {
      if (!match[0].startsWith('<') && open?.name !== 'style') plain(match[0].replaceAll('"', ''));
      continue;
    }
    if (closing) {
      if (open?.name !== name) throw new SyntaxError(`${name} ends within ${open?.name}`);
      open = open.parent;
      continue;
    }
    const pairs = [...attributes.matchAll(/([\w:-]+)="([^"]*)"/g)].map(([, key = '', value = '']) => [
      key,
      plain(value),
    ]);
    const element: XmlElement = { name, attributes: Object.fromEntries(pairs), parent: open, children: [] };
    open?.children.push(element);
    found.push(element);
    if (!empty) open = element;
  }
  if (end !== xml.length || open !== null) throw new SyntaxError('not closed');
  return found;
}

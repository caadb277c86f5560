/**
 * xterm.js writes its colours and sizes into `<style>` elements and `style` attributes, and a page that lets neither in
 * cannot be made to show what somebody else wrote there. So the terminal gets a document that hands it other elements: a
 * style that becomes an adopted sheet, and spans whose attribute goes through the object model. Both are what the policy
 * allows to the page's own script.
 */

class AdoptedStyle extends HTMLElement {
  readonly #sheet = new CSSStyleSheet();

  override get textContent(): string {
    return '';
  }

  override set textContent(text: string | null) {
    this.#sheet.replaceSync(text ?? '');
  }

  connectedCallback(): void {
    document.adoptedStyleSheets.push(this.#sheet);
  }

  disconnectedCallback(): void {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => sheet !== this.#sheet);
  }
}

const tag = 'custody-style';
customElements.define(tag, AdoptedStyle);

function span(): HTMLSpanElement {
  const element = document.createElement('span');
  element.setAttribute = (name: string, value: string) => {
    if (name === 'style') element.style.cssText = value;
    else Element.prototype.setAttribute.call(element, name, value);
  };
  return element;
}

function create(name: string): HTMLElement {
  if (name === 'style') return document.createElement(tag);
  return name === 'span' ? span() : document.createElement(name);
}

/** The document of the page, except for what it makes. */
export const terminalDocument: Document = new Proxy(document, {
  get(target, property) {
    if (property === 'createElement') return create;
    const value: unknown = Reflect.get(target, property, target);
    return typeof value === 'function' ? value.bind(target) : value;
  },
  set: (target, property, value) => Reflect.set(target, property, value, target),
});

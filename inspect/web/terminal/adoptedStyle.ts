/**
 * xterm.js writes its colours and sizes into `<style>` elements and `style` attributes, and a page that lets neither in
 * cannot be made to show what somebody else wrote there. So the document hands out other elements: for a style one that
 * becomes an adopted sheet, and spans whose attribute goes through the object model. Both are what the policy allows to the
 * page's own script. The option `documentOverride` would be the place for this, but xterm 6.0.0 asks it for half of them.
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

const original = document.createElement.bind(document);

function span(): HTMLSpanElement {
  const element = original('span');
  element.setAttribute = (name: string, value: string) => {
    if (name === 'style') element.style.cssText = value;
    else Element.prototype.setAttribute.call(element, name, value);
  };
  return element;
}

document.createElement = (name: string, options?: ElementCreationOptions): HTMLElement => {
  if (name === 'style') return original(tag);
  return name === 'span' ? span() : original(name, options);
};

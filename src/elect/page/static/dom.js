// Elements by construction. Whatever comes from a table becomes a text node or an attribute, never markup.

const SVG = "http://www.w3.org/2000/svg";

function build(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") Object.assign(element.style, value);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  fill(element, children, false);
  return element;
}

/** An HTML element: h("td", {class: "number"}, "3.5"). */
export function h(tag, attributes, ...children) {
  return build(document.createElement(tag), attributes, children);
}

/** An SVG element. */
export function svg(tag, attributes, ...children) {
  return build(document.createElementNS(SVG, tag), attributes, children);
}

/** Put children into an element, in place of what was there. */
export function fill(element, children, replace = true) {
  if (replace) element.replaceChildren();
  for (const child of [children].flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(visible(String(child))));
  }
  return element;
}

/** Text without characters that would turn the text around them, or that nobody can see. */
export function visible(text) {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, "\ufffd");
}

/** The name of a column, which may be broken after an underscore rather than anywhere. */
export const breakable = (name) => name.split(/(?<=_)/).flatMap((part) => [part, h("wbr")]);

export const byId = (id) => document.getElementById(id);

/** Call a function once things have been quiet for a while. */
export function later(milliseconds, act) {
  let timer = null;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => act(...given), milliseconds);
  };
}

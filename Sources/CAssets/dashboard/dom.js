"use strict";
// The dashboard of timerd, and an example of a client: it uses the public API alone.
//
// The server joins the files of this folder to one page, in the order that CAssets.c names: they share one scope.
// Elements are made and changed here; all others use it.

const $ = id => document.getElementById(id);

// An element with properties or, where the name has a dash, attributes.
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-")) {
      element.setAttribute(name, value);
    } else {
      element[name] = value;
    }
  }
  element.append(...children);
  return element;
}

// A copy of the one element in a template.
const clone = id => $(id).content.firstElementChild.cloneNode(true);

function icon(name) {
  const svg = clone("icon");
  svg.firstElementChild.setAttribute("href", `#i-${name}`);
  return svg;
}

// Sets a text where it differs: most frames change next to nothing. Another text in the same node costs the least.
function write(element, text) {
  if (element.textContent === text) return;
  const node = element.firstChild;
  if (text && node?.nodeType === Node.TEXT_NODE && !node.nextSibling) {
    node.data = text;
  } else {
    element.textContent = text;
  }
}

// Hides an element or shows it. The focus that would be lost with it goes to `next`.
function hide(element, isHidden, next) {
  const hadFocus = element === document.activeElement;
  element.hidden = isHidden;
  if (hadFocus && isHidden) next.focus();
}

// Moves an element to the end of another one; it keeps the focus.
function shift(element, box) {
  const hadFocus = element === document.activeElement;
  box.append(element);
  if (hadFocus) element.focus();
}

// Replaces an element's children where `key` says that they differ.
function renew(element, key, children) {
  if (element.dataset.key === key) return;
  element.dataset.key = key;
  element.replaceChildren(...children());
}

// The end of a button that ends a filter. No line begins between its space and the word before.
const CLOSE = "\u00a0✕";

const capital = text => text[0].toUpperCase() + text.slice(1);
const count = (number, one, more = `${one}s`) => `${number.toLocaleString()} ${number === 1 ? one : more}`;
const pairs = labels => Object.entries(labels).map(([key, value]) => `${key}=${value}`);

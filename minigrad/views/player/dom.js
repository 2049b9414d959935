// Making elements. Text of a recording reaches the page through textContent only.

import { message } from "./messages.js";

const SVG = "http://www.w3.org/2000/svg";

// An element with its class, or with several properties. A button sends no form; a child
// that is not there is left out.
export function element(tag, is = {}, ...children) {
  const made = document.createElement(tag);
  if (tag === "button") Object.assign(made, { type: tag });
  if (typeof is === "object") Object.assign(made, is);
  else if (is) made.className = is;
  made.append(...children.filter(Boolean));
  return made;
}

// The same text once more would still have the page laid out again.
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// Brings children into an order, and touches only those that are not where they belong:
// what stays keeps its focus, and is not laid out again.
export function setChildren(box, children) {
  const wanted = new Set(children);
  for (const child of [...box.children]) if (!wanted.has(child)) child.remove();
  children.forEach((child, place) => {
    if (box.children[place] !== child) box.insertBefore(child, box.children[place] || null);
  });
}

export function svgElement(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const name in attributes) made.setAttribute(name, attributes[name]);
  made.append(...children.filter(Boolean));
  return made;
}

export const bodyOf = (ariaLabel) => element("div", { className: "body", tabIndex: 0, role: "region", ariaLabel });

// What is in a pane scrolls below its title.
export class Pane {
  constructor(className, name) {
    this.title = element("h2", "", name);
    this.note = element("span", "note");
    this.head = element("header", "", this.title, this.note);
    this.body = bodyOf(message("pane.scrolls", { name }));
    this.box = element("section", { className: `pane ${className}`, ariaLabel: name }, this.head, this.body);
  }
}

// Back where the keys of a notebook work.
export function leaveFrame() {
  document.activeElement?.blur();
  if (parent === window) return;
  parent.focus();
  // null in a page of another origin
  window.frameElement?.closest(".jp-Notebook-cell")?.focus();
}

// Shift+Enter in a notebook leads on, from wherever one is: to the next cell, which has
// not run yet. So a page in a frame hears it before anything in it does.
export function goOnByKey() {
  addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !event.shiftKey) return;
    const cell = window.frameElement?.closest(".jp-Notebook-cell");
    if (!cell) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    parent.focus();
    const cells = [...cell.closest(".jp-Notebook").querySelectorAll(".jp-Notebook-cell")];
    (cells[cells.indexOf(cell) + 1] ?? cell).focus();
  }, true);
}

// What a tip tells of an element, asked for when it is shown.
export function tells(thing, teller) {
  thing.dataset.tells = "";
  return Object.assign(thing, { teller });
}

// Many things to choose from are one stop of the Tab key; arrows go among them, and are
// no step of the player.
export function rove(box, selector, moves = { ArrowDown: 1, ArrowUp: -1 }) {
  const all = () => [...box.querySelectorAll(selector)].filter((one) => one.checkVisibility());
  box.addEventListener("keydown", (event) => {
    const by = moves[event.key];
    const choices = by ? all() : [];
    const at = choices.indexOf(document.activeElement);
    if (at < 0) return;
    choices[at + by]?.focus();
    event.preventDefault();
    event.stopPropagation();
  });
  box.addEventListener("focusin", (event) => {
    const chosen = event.target.closest(selector);
    if (chosen) tabStop(box, chosen);
  });
}

export function tabStop(box, chosen) {
  if (chosen === box.stop) return;
  box.stop?.setAttribute("tabindex", "-1");
  chosen?.setAttribute("tabindex", "0");
  box.stop = chosen;
}

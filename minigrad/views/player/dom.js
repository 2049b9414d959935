// Making elements. Text of a recording reaches the page through textContent only.

import { message } from "./messages.js";

const SVG = "http://www.w3.org/2000/svg";

export function element(tag, className = "", text = null) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== null) made.textContent = text;
  return made;
}

export function svgElement(tag, attributes = {}) {
  const made = document.createElementNS(SVG, tag);
  for (const name in attributes) made.setAttribute(name, attributes[name]);
  return made;
}

export function pane(className, name) {
  const box = element("section", `pane ${className}`);
  box.setAttribute("aria-label", name);
  const head = element("header");
  const title = element("h3", "", name);
  const note = element("span", "note");
  head.append(title, note);
  const body = element("div", "body");
  body.tabIndex = 0;
  body.setAttribute("role", "region");
  body.setAttribute("aria-label", message("pane.scrolls", { name }));
  box.append(head, body);
  return { box, body, title, note };
}

// All text inside an element, as a reader meets it.
export function shownText(node) {
  const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
  const words = [];
  while (walker.nextNode()) words.push(walker.currentNode.data);
  return words.join(" ");
}

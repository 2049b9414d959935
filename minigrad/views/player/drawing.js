// The drawing of a graph: its parts, where they stand, and which are in the page.
//
// A large drawing is in the page only around the place that is looked at: thousands of
// shapes would cost tens of milliseconds at every step.

import { svgElement } from "./dom.js";

/** @typedef {import("./types").Box} Box */
/** @typedef {import("./types").Part} Part */

const ALL_DRAWN = 300; // parts; of a drawing with more there is a window
const AROUND = 250; // points drawn beyond the edges of the window

export class Drawing {
  /**
   * `dress` is called once for each part when its element has been made.
   * @param {SVGSVGElement} svg
   * @param {Part[]} parts
   * @param {(part: Part) => void} dress
   */
  constructor(svg, parts, dress) {
    this.svg = svg;
    this.parts = parts; // {names, edge, box, text, shape, state}
    this.dress = dress;
    this.windowed = parts.some((part) => !part.shape);
    /** @type {SVGGraphicsElement} */
    this.layer = svg.querySelector("g.graph") || svg;
    this.overlay = svgElement("g", { class: "overlay" });
    this.layer.append(this.overlay);
    const { x, y, width, height } = svg.viewBox.baseVal;
    this.view = { x, y, width, height };
    // Graphviz moves the whole drawing by a translation; the overlay lives inside it.
    const move = this.layer.transform?.baseVal.consolidate?.();
    this.shift = move ? { x: move.matrix.e, y: move.matrix.f } : { x: 0, y: 0 };
    this.drawn = this.windowed ? [] : parts; // those that are in the page
    for (const part of this.drawn) this.dress(part);
  }

  /**
   * Room for what is written beside the parts.
   * @param {number} least
   */
  widen(least) {
    const { view } = this;
    const width = Math.max(view.width + 24, least);
    view.x -= (width - view.width) / 2;
    view.y -= 22;
    view.width = width;
    view.height += 34;
    this.svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
  }

  /** @param {number} factor */
  zoom(factor) {
    this.svg.style.width = `${this.view.width * factor}px`;
    this.svg.style.height = `${this.view.height * factor}px`;
  }

  /**
   * Where a box of the drawing is on the screen.
   * @param {Box} box
   */
  placeOf(box) {
    const from = this.svg.getBoundingClientRect();
    const scale = from.width / this.view.width || 1;
    const left = from.left + (box.x + this.shift.x - this.view.x) * scale;
    const top = from.top + (box.y + this.shift.y - this.view.y) * scale;
    return { left, top, right: left + box.width * scale, bottom: top + box.height * scale };
  }

  /**
   * What of the drawing can be seen in a room on the screen, in the parts' own measure.
   * @param {DOMRect} room @returns {Box}
   */
  seenIn(room) {
    const from = this.svg.getBoundingClientRect();
    const scale = from.width / this.view.width || 1;
    return {
      x: this.view.x - this.shift.x + (room.left - from.left) / scale,
      y: this.view.y - this.shift.y + (room.top - from.top) / scale,
      width: room.width / scale,
      height: room.height / scale,
    };
  }

  /**
   * Brings the parts in and around a box into the page, takes the others out, and says
   * whether that changed anything. What has the focus stays.
   * @param {Box} box
   * @this {Drawing & { near?: Box, focused?: Element | false }}
   */
  draw(box) {
    if (!this.windowed) return false;
    const near = {
      x: box.x - AROUND,
      y: box.y - AROUND,
      width: box.width + 2 * AROUND,
      height: box.height + 2 * AROUND,
    };
    const focused = this.svg.contains(document.activeElement) && document.activeElement;
    if (sameBox(near, this.near) && focused === this.focused) return false;
    Object.assign(this, { near, focused });
    const wanted = this.parts.filter(
      (part) => meet(part.box, near) || (focused && part.shape?.contains(focused)),
    );
    const missing = wanted.filter((part) => !part.shape?.isConnected);
    const stays = new Set(wanted);
    const gone = this.drawn.filter((part) => !stays.has(part));
    this.drawn = wanted;
    for (const part of gone) part.shape.remove();
    this.make(missing.filter((part) => !part.shape));
    /** @type {SVGElement} */
    let next = this.overlay;
    for (const part of wanted.toReversed()) {
      if (part.shape.nextSibling !== next) next.before(part.shape);
      next = part.shape;
    }
    return missing.length + gone.length > 0;
  }

  /** @param {Part[]} parts */
  make(parts) {
    if (!parts.length) return;
    const made = parse(`${OPENING}${parts.map((part) => part.text).join("")}</svg>`);
    const shapes = [...made.children];
    parts.forEach((part, index) => {
      part.shape = shapes[index];
      this.dress(part);
    });
  }
}

/**
 * The text of an SVG as a drawing; null where it cannot be read.
 * @param {string} text @param {(part: Part) => void} dress
 */
export function drawingOf(text, dress) {
  const pieces = piecesOf(text);
  if (pieces && pieces.parts.length > ALL_DRAWN) {
    const svg = parse(pieces.frame);
    if (svg) return new Drawing(svg, pieces.parts, dress);
  }
  const svg = parse(text);
  if (!svg) return null;
  const found = [...svg.querySelectorAll("g.node, g.edge")];
  const parts = found.map(/** @param {SVGElement} shape */ (shape) => {
    const outlines = [...shape.querySelectorAll("path, polygon, ellipse")];
    const outline = outlines.map((one) => one.getAttribute("d") || one.getAttribute("points"));
    const edge = shape.classList.contains("edge");
    return partOf(shape.id, edge, outline.join(" "), { shape });
  });
  return new Drawing(svg, parts, dress);
}

const OPENING =
  '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">';

/**
 * The text can be cut before each node and edge.
 * @param {string} text
 */
function piecesOf(text) {
  const [head, ...rest] = text.split(/(?:<!--.*?-->\s*)?(?=<g id="mg_[^"]*" class="(?:node|edge)">)/);
  if (!rest.length) return null;
  const last = rest.pop();
  rest.push(last.slice(0, last.lastIndexOf("</g>")));
  const parts = rest.map((one) => {
    const piece = one.trim();
    const found = piece.match(/^<g id="([^"]+)" class="(node|edge)">/);
    if (!piece.endsWith("</g>")) return null;
    const outline = [...piece.matchAll(/ (?:d|points)="([^"]*)"/g)].map(([, one]) => one);
    return partOf(found[1], found[2] === "edge", outline.join(" "), { text: piece });
  });
  return parts.includes(null) ? null : { frame: `${head}</g></svg>`, parts };
}

/**
 * An alias is drawn for a node and an edge: "n0__e3".
 * @param {string} id @param {boolean} edge @param {string} outline
 * @param {{ shape?: SVGElement, text?: string }} more
 * @returns {Part}
 */
function partOf(id, edge, outline, more) {
  const names = id.replace(/^mg_/, "").split("__");
  return { names, edge, box: boxOf(outline), state: "unseen", shape: null, ...more };
}

/** @param {string} text @returns {SVGSVGElement | null} */
function parse(text) {
  const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
  if (parsed.querySelector("parsererror")) return null;
  for (const idle of parsed.querySelectorAll("title")) idle.remove();
  for (const risky of parsed.querySelectorAll("script, foreignObject, a")) risky.remove();
  return document.importNode(parsed.documentElement, true);
}

/**
 * getBBox needs a drawn element; the outline's own points are there from the start.
 * @param {string} outline @returns {Box}
 */
function boxOf(outline) {
  const numbers = outline.match(/-?[\d.]+/g);
  if (!numbers) return { x: 0, y: 0, width: 0, height: 0 };
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let index = 0; index + 1 < numbers.length; index += 2) {
    const x = Number(numbers[index]);
    const y = Number(numbers[index + 1]);
    left = Math.min(left, x);
    right = Math.max(right, x);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y);
  }
  return { x: left, y: top, width: right - left, height: bottom - top };
}

/** @param {Box} one @param {Box | undefined} other */
function sameBox(one, other) {
  return other && ["x", "y", "width", "height"].every(
    /** @param {keyof Box} side */
    (side) => one[side] === other[side]
  );
}

/** @param {Box} one @param {Box} other */
function meet(one, other) {
  return (
    one.x <= other.x + other.width && other.x <= one.x + one.width &&
    one.y <= other.y + other.height && other.y <= one.y + one.height
  );
}

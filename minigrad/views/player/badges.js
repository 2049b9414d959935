// What stands over the drawing of a graph: gradients that wait or are kept, variables,
// tangents, the cue, and a gradient on its way.

import { setChildren, svgElement, tells } from "./dom.js";
import { message } from "./messages.js";
import { brief, shapeWords } from "./values.js";

/** @typedef {import("./graph.js").GraphPane} GraphPane */
/** @typedef {import("./types").Box} Box */
/** @typedef {import("./types").Ref} Ref */
/** @typedef {import("./types").State} State */
/** @typedef {import("./types").View} View */

/**
 * Where a badge stands: the middle of its width and of its height; `aside` lets it move
 * to the left of another, `away` says whether others push it down.
 * @typedef {{ x: number, y: number, aside?: boolean, away?: number }} Place
 */

const MOST_LETTERS = 40;
const MOST_BELOW = 26; // letters below a leaf, beside which others stand
const LETTERS_WIDE = 6.3;
const LETTER_OF_NAME = 6.6; // in the drawing itself
export const WIDEST_BADGE = LETTERS_WIDE * MOST_LETTERS + 18;

export class Badges {
  /**
   * `graph` is the pane: it knows where things are drawn, and what a click on them
   * leads to.
   * @param {GraphPane} graph
   */
  constructor(graph) {
    this.graph = graph;
    this.trace = graph.trace;
    this.story = graph.story;
    /** @type {Box[]} */
    this.boxes = []; // of those that stand there
    /** @type {Map<string, SVGElement>} */
    this.made = new Map(); // what one looks like and where it stands -> its element
  }

  /**
   * Those that would be the same again stay: a step changes few of them.
   * @param {View} view
   */
  show(view) {
    this.before = this.made;
    this.made = new Map();
    this.boxes = [];
    this.showWaiting(view);
    this.showKept(view);
    this.showHandles(view);
    this.showCue(view);
    setChildren(this.graph.drawing.overlay, [...this.made.values()]);
  }

  /** @param {View} view */
  showWaiting(view) {
    const { state, event, animate, duration } = view;
    const travelling = travels(view);
    // The one that is spoken of comes first, and keeps its place.
    /** @param {string} node */
    const first = (node) => Number(node === event?.n);
    const nodes = Object.keys(state.waiting).sort((a, b) => first(b) - first(a));
    for (const node of nodes) {
      for (const slot in state.waiting[node]) {
        const words = this.waitingWords(state.waiting[node][slot]);
        const arriving = travelling && this.story.edges[travelling]?.to === node;
        const place = this.placeAbove(node, travelling, Number(slot));
        const look = arriving ? "badge arriving" : "badge";
        const badge = this.badge(this.stillToCome(state, node, words), look, place);
        if (arriving && animate) badge.style.animationDelay = `${duration}ms`;
      }
    }
    for (const node in state.left) {
      if (!state.left[node] || state.waiting[node]) continue;
      this.badge(this.stillToCome(state, node), "badge", this.placeAbove(node));
    }
  }

  /**
   * A long sum is said in ctx: rather none here than a part of it.
   * @param {{ parts: (Ref | null)[], total: Ref | null }} waiting
   */
  waitingWords({ parts, total }) {
    const whole = brief(this.trace, total);
    if (parts.length < 2 || parts.length > 3) return whole;
    const addends = parts.map((part) => brief(this.trace, part)).join(" + ");
    const sum = message("gradient.sum", { total: whole, parts: addends });
    return sum.length <= MOST_LETTERS ? sum : whole;
  }

  /** @param {View} view */
  showKept({ state, event }) {
    for (const node in state.grads) {
      const tensor = this.story.nodes[node]?.tensor || message("tensor.unnamed");
      const value = brief(this.trace, state.grads[node]);
      const said = message("gradient.kept", { tensor, value });
      const { nan, inf } = this.trace.values[state.grads[node].v] || {};
      const isLong = said.length > MOST_BELOW && !nan && !inf; // those must not go unseen
      const words = isLong ? this.shortWords(state.grads[node]) : said;
      const fresh = event.k === "grad.accumulate" && event.n === node;
      const badge = this.badge(words, fresh ? "badge kept cue" : "badge kept", this.placeBelow(node));
      if (badge.hasAttribute("role")) continue; // it stood there before
      const name = message("grad.name", { tensor });
      badge.setAttribute("role", "button");
      badge.setAttribute("tabindex", "-1");
      badge.setAttribute("aria-label", message("steps.of", { name: said }));
      badge.onclick = () => this.graph.choose(`grad ${node}`, name);
      tells(badge, () => ({ title: name, ref: this.graph.now.state.grads[node] }));
    }
  }

  /**
   * The leaf says its name already, and a tip and ctx have the numbers.
   * @param {Ref} ref
   */
  shortWords(ref) {
    const value = brief(this.trace, ref);
    if (value.length <= MOST_BELOW / 2) return message("gradient.kept", { tensor: "", value });
    return message("gradient.kept.long", { shape: shapeWords(this.trace.values[ref.v].shape) });
  }

  /**
   * What waits at a node, and how many more have to come there.
   * @param {State} state @param {string} node
   */
  stillToCome({ left }, node, words = "") {
    if (!left[node]) return words;
    const more = message("gradient.to-come", { count: left[node] });
    return words ? message("gradient.and-more", { words, more }) : more;
  }

  /**
   * At a node: the variables that stand for its output, and the output's tangent.
   * @param {View} view
   */
  showHandles({ state, event }) {
    for (const node in state.tangents) {
      const words = message("tangent.beside", { value: brief(this.trace, state.tangents[node]) });
      const fresh = event?.k === "tangent" && event.n === node;
      this.badge(words, fresh ? "badge tangent cue" : "badge tangent", this.placeAbove(node));
    }
    /** @type {Record<string, string[]>} */
    const names = {};
    for (const name in state.handles) (names[state.handles[name]] ||= []).push(name);
    for (const node in names) {
      const fresh = names[node].some((name) => event?.h?.[name] === node);
      const words = names[node].join(", ");
      const place = this.placeAtCorner(node, words);
      this.badge(words, fresh ? "badge handle cue" : "badge handle", place);
    }
  }

  /**
   * @param {string} words
   * @param {string} className
   * @param {Place | null} place
   * @returns {SVGElement}
   */
  badge(words, className, place) {
    if (!place) return svgElement("g");
    const short =
      words.length > MOST_LETTERS ? `${words.slice(0, MOST_LETTERS - 1)}…` : words;
    const width = short.length * LETTERS_WIDE + 10;
    const { view, shift } = this.graph.drawing;
    const left = view.x - shift.x + 2;
    const most = left + view.width - width - 4;
    const x = Math.max(left, Math.min(most, place.x - width / 2));
    const box = { x, y: place.y - 8, width, height: 16, rx: 8 };
    // One that would cover another moves aside, where it may, else on, away from the node.
    const covered = place.aside && this.boxes.find((other) => overlap(other, box));
    if (covered) box.x = Math.max(left, covered.x - width - 3);
    while (this.boxes.some((other) => overlap(other, box))) box.y += 18 * (place.away || -1);
    this.boxes.push(box);
    const look = [className, short, box.x, box.y].join(" ");
    const badge = this.before.get(look) || badgeOf(className, short, box);
    this.made.set(look, badge);
    return badge;
  }

  /**
   * Over the arrow that comes in, at the socket of an output where a node has several.
   * @param {string} node @param {string | null} [edge] @returns {Place | null}
   */
  placeAbove(node, edge, slot = 0) {
    const box = this.graph.nodeBox(node, edge);
    if (!box) return null;
    const several = this.story.nodes[node]?.outputs > 1;
    const socket = several && this.graph.elementOf(node)?.querySelectorAll("text")[slot];
    const left = socket ? Number(socket.getAttribute("x")) : box.x;
    const width = socket ? socket.textContent.length * LETTER_OF_NAME : box.width;
    return { x: left + width / 2, y: box.y - 17 };
  }

  /**
   * Where the output leaves, beside the arrow: a neighbour at the left is not covered,
   * nor the node above by what makes room for a gradient that waits.
   * @param {string} node @param {string} words @returns {Place | null}
   */
  placeAtCorner(node, words) {
    const box = this.graph.nodeBox(node);
    const width = Math.min(words.length, MOST_LETTERS) * LETTERS_WIDE + 10;
    return box && { x: box.x - 8 + width / 2, y: box.y - 8, aside: true };
  }

  /** @param {string} node @returns {Place | null} */
  placeBelow(node) {
    const box = this.graph.nodeBox(node);
    return box && { x: box.x + box.width / 2, y: box.y + box.height + 6, away: 1 };
  }

  /**
   * The cue is put at the edge or node the event speaks of, else at the ctx's own node.
   * @param {View} view
   */
  showCue({ state, event, cue }) {
    const owner = this.story.ctxs[state.cid]?.node;
    const node = event?.n || owner;
    const box = cue && node ? this.graph.nodeBox(node, event.e) : null;
    this.mark(box && this.graph.elementOf(node));
    if (!box) return;
    const said = event.k === "grad.accumulate" || cue.includes(this.story.nodes[node].label);
    if (said) return; // the badge of .grad, or the node itself, says it already
    const x = box.x + box.width;
    this.badge(cue, "badge cue", { x, y: box.y + box.height + 7, away: 1 });
  }

  /** @param {Element | null} node */
  mark(node) {
    if (node === this.marked) return;
    this.marked?.classList.remove("marked");
    node?.classList.add("marked");
    /** @type {Element | null} */
    this.marked = node;
  }

  /** @param {string} id @param {Ref} gradient @param {number} duration */
  travel(id, gradient, duration) {
    /** @type {SVGPathElement | null} */
    const path = this.graph.elementOf(id)?.querySelector("path:not(.hit)");
    if (!path) return;
    const length = path.getTotalLength();
    const ball = svgElement("g", { class: "ball" });
    const words = svgElement("text", { x: 9, y: 3.5 });
    words.textContent = brief(this.trace, gradient);
    ball.append(svgElement("circle", { r: 5 }), words);
    this.graph.drawing.overlay.append(ball);
    const begin = performance.now();
    /** @param {number} now */
    const move = (now) => {
      if (!ball.isConnected) return;
      const part = Math.min(1, Math.max(0, (now - begin) / duration));
      const at = path.getPointAtLength(length * part);
      ball.setAttribute("transform", `translate(${at.x} ${at.y})`);
      if (part < 1) requestAnimationFrame(move);
      else ball.remove();
    };
    move(begin);
  }
}

/** @param {string} className @param {string} words @param {Box & { rx: number }} box */
function badgeOf(className, words, box) {
  const badge = svgElement("g", { class: className });
  const text = svgElement("text", { x: box.x + box.width / 2, y: box.y + 11.5 });
  text.textContent = words;
  badge.append(svgElement("rect", box), text);
  return badge;
}

/** @param {Box} one @param {Box} other */
function overlap(one, other) {
  const beside = one.x + one.width <= other.x || other.x + other.width <= one.x;
  return !beside && Math.abs(one.y - other.y) < one.height;
}

/**
 * The edge along which a gradient goes now.
 * @param {View} view @returns {string | null}
 */
export function travels({ event }) {
  return event?.k === "grad" ? event.e : null;
}

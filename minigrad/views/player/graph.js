// The graph pane.

import { Badges, WIDEST_BADGE, travels } from "./badges.js";
import { drawingOf } from "./drawing.js";
import { element, pane, rove, setText, svgElement, tabStop, tells } from "./dom.js";
import { Listing } from "./listing.js";
import { message } from "./messages.js";

/** @typedef {import("./drawing.js").Drawing} Drawing */
/** @typedef {import("./steps.js").StepIndex} StepIndex */
/** @typedef {import("./story.js").Story} Story */
/** @typedef {import("./types").Box} Box */
/** @typedef {import("./types").Choose} Choose */
/** @typedef {import("./types").Part} Part */
/** @typedef {import("./types").State} State */
/** @typedef {import("./types").Told} Told */
/** @typedef {import("./types").Trace} Trace */
/** @typedef {import("./types").View} View */

const CHOICES = "g.node[role], g.edge[role], .badge.kept[role]";

// The drawing is made once; a step only changes states, badges and the marked place.
export class GraphPane {
  /** @type {HTMLElement} */
  box;
  /** @type {HTMLElement} */
  body;
  /** @type {HTMLElement} */
  title;
  /** @type {HTMLElement} */
  note;

  /**
   * @param {Trace} trace
   * @param {Story} story
   * @param {StepIndex} index
   * @param {Choose} choose
   */
  constructor(trace, story, index, choose) {
    this.trace = trace;
    this.story = story;
    this.index = index;
    this.choose = choose;
    Object.assign(this, pane("graph", message("graph.name")));
    this.empty = element("p", "empty");
    this.empty.hidden = trace.graph.nodes.length > 0;
    this.body.append(this.empty);
    /** @type {Map<string, Part[]>} */
    this.parts = new Map(); // name of a node, edge or alias -> its parts
    const drawing = trace.graph.svg && drawingOf(trace.graph.svg, (part) => this.dress(part));
    if (drawing) this.adopt(drawing);
    else if (this.empty.hidden) this.list();
  }

  // Where nothing could draw, or the graph is too large for it.
  list() {
    /** @param {string} id */
    const nameOf = (id) => this.nodeName(id);
    this.listing = new Listing(this.trace, this.story, nameOf, this.choose);
    this.body.append(this.listing.list);
    this.sayPart("graph.list");
  }

  /** @param {Drawing} drawing */
  adopt(drawing) {
    this.drawing = drawing;
    const { svg, parts } = drawing;
    this.svg = svg;
    this.badges = new Badges(this);
    svg.setAttribute("role", "group");
    svg.setAttribute("aria-label", message("graph.picture"));
    svg.removeAttribute("width");
    svg.removeAttribute("height");
    for (const part of parts) {
      const [name, edge] = part.names;
      this.addPart(name, part);
      if (edge) this.addPart(`${edge} alias`, part);
    }
    rove(this.body, CHOICES);
    drawing.widen(WIDEST_BADGE);
    this.body.append(svg);
    if (drawing.windowed) this.sayPart("graph.window");
    this.body.addEventListener("scroll", () => this.look(), { passive: true });
    new ResizeObserver(() => this.fit()).observe(this.body);
  }

  /** @param {string} words */
  sayPart(words) {
    const { nodes, edges } = this.trace.graph;
    const fields = { nodes: thousands(nodes.length), edges: thousands(edges.length) };
    this.box.append(element("p", "window-note", message(words, fields)));
  }

  /**
   * When the element of a part has been made.
   * @param {Part} part
   */
  dress(part) {
    const { shape, names } = part;
    shape.dataset.state = part.state;
    if (!part.edge) shape.append(tick(part.box));
    this.makeChoice(part, names[1] || names[0], names[0]);
  }

  /**
   * A click on a node or an edge, or Enter, gives its steps; a tip tells its value.
   * @param {Part} part @param {string} id @param {string} node
   */
  makeChoice(part, id, node) {
    const { edge, shape } = part;
    const what = edge ? `edge ${id}` : `node ${node}`;
    const name = edge ? this.edgeName(id) : this.nodeName(node);
    shape.setAttribute("role", "button");
    shape.setAttribute("tabindex", "-1");
    // All that is written on a node: a name that lacks a part of it misleads.
    const written = [...shape.querySelectorAll("text")].map((text) => text.textContent);
    shape.setAttribute("aria-label", message("steps.of", { name: edge ? name : written.join(" ") }));
    shape.onclick = () => this.choose(what, name);
    if (edge) shape.prepend(wideCopy(shape));
    tells(shape, () => ({ title: name, ...this.tellOf(edge ? id : null, node) }));
  }

  /** @param {string} id @returns {string} */
  nodeName(id) {
    const { label, tensor } = this.story.nodes[id] || { label: id };
    return tensor ? message("node.name", { label, tensor }) : label;
  }

  /** @param {string} id @returns {string} */
  edgeName(id) {
    const edge = this.story.edges[id];
    if (!edge) return id;
    const ends = { from: this.nodeName(edge.from), to: this.nodeName(edge.to) };
    return message("edge.name", ends);
  }

  /** @param {string | null} edge @param {string} node @returns {Told} */
  tellOf(edge, node) {
    const { state, position } = this.now;
    const unseen = (edge ? state.edges[edge] : state.nodes[node]) === undefined;
    if (unseen) return { words: [message("tip.unseen")] };
    if (edge) {
      const gone = state.edges[edge] !== "seen" && this.index.last(`edge ${edge}`, position);
      return gone?.ref ? { words: [message("tip.last")], ref: gone.ref } : {};
    }
    if (state.grads[node]) {
      const tensor = this.story.nodes[node]?.tensor || message("tensor.unnamed");
      return { words: [message("gradient.now", { tensor })], ref: state.grads[node] };
    }
    const waiting = Object.values(state.waiting[node] || {})[0];
    return waiting ? { words: [message("tip.waits")], ref: waiting.total } : {};
  }

  /** @param {string} id @param {Part} part */
  addPart(id, part) {
    const parts = this.parts.get(id) || [];
    parts.push(part);
    this.parts.set(id, parts);
  }

  fit() {
    const width = this.body.clientWidth - 8;
    const height = this.body.clientHeight - 8;
    if (width <= 0) return;
    const { view } = this.drawing;
    const whole = Math.min(width / view.width, height / view.height);
    // What cannot be seen whole has to be scrolled: then it is large enough to be read.
    const readable = Math.max(0.8, Math.min(1, width / view.width));
    this.drawing.zoom(whole < 0.72 ? readable : Math.min(1.35, whole));
    this.fitted = true;
    this.look();
  }

  /** @param {View} view */
  show(view) {
    const { state, event } = view;
    this.now = view;
    setText(this.note, passWords(state, this.svg ? this.trace.graph.nodes.length : 0));
    if (!this.empty.hidden) setText(this.empty, this.emptyWords(view.position));
    this.listing?.show(view);
    if (!this.svg) return;
    this.showStates();
    this.badges.show(view);
  }

  // Those that are not drawn are given theirs when they come into the window.
  showStates() {
    for (const part of this.drawing.drawn) this.showState(part);
  }

  /** @param {Part} part */
  showState(part) {
    const now = this.stateNow(part);
    if (part.state === now) return;
    part.state = now;
    part.shape.dataset.state = now;
  }

  /** @param {Part} part */
  stateNow({ edge, names: [name] }) {
    const { state } = this.now;
    return (edge ? state.edges[name] : state.nodes[name]) || "unseen";
  }

  /**
   * After all panes have changed: the window is moved to the node that is spoken of.
   * @param {View} view
   */
  measure(view) {
    this.listing?.measure(this.body);
    if (!this.svg) return;
    if (!this.fitted) this.fit();
    this.follow(view);
    this.look();
    this.reach(view);
    const travelling = travels(view);
    if (travelling && view.animate) this.badges.travel(travelling, view.event.g, view.duration);
  }

  // In another place or another size other parts are in the window.
  look() {
    if (this.drawWindow()) this.badges.show(this.now);
  }

  drawWindow() {
    if (!this.drawing.windowed || !this.fitted) return false;
    const changed = this.drawing.draw(this.drawing.seenIn(this.body.getBoundingClientRect()));
    if (changed) this.showStates();
    return changed;
  }

  // What of the drawing can be seen, as a viewBox: for a picture to save.
  inView() {
    const { windowed, view, shift } = this.drawing;
    if (!windowed) return view;
    const seen = this.drawing.seenIn(this.body.getBoundingClientRect());
    return { ...seen, x: seen.x + shift.x, y: seen.y + shift.y };
  }

  /** @param {number} position */
  emptyWords(position) {
    if (position < this.trace.events.length) return message("graph.empty.so-far");
    if (this.trace.meta.error) return message("graph.empty.stopped");
    return message("graph.empty.unasked");
  }

  /**
   * The box of a node, where it is drawn now.
   * @param {string} node @param {string | null} edge @returns {Box | null}
   */
  nodeBox(node, edge = null) {
    const parts = (edge && this.parts.get(`${edge} alias`)) || this.parts.get(node);
    return parts?.find((part) => part.shape?.isConnected)?.box || null;
  }

  /** @param {string} name @returns {string | undefined} */
  stateOf(name) {
    const part = this.parts.get(name)?.[0];
    const drawn = this.drawing?.drawn.includes(part);
    return drawn ? part.shape.dataset.state : part && this.stateNow(part);
  }

  /**
   * The element of a node or edge, where it is drawn now.
   * @param {string} name @returns {SVGElement | null}
   */
  elementOf(name) {
    const drawn = this.parts.get(name)?.find((part) => part.shape?.isConnected);
    return drawn?.shape || null;
  }

  /**
   * Tab comes to the node that is spoken of, else to the first one that is there.
   * @param {View} view
   */
  reach({ event, state }) {
    const focused = document.activeElement;
    if (this.body.contains(focused) && focused !== this.body) return;
    const owner = this.story.ctxs[state.cid]?.node;
    const node = event?.n || owner || Object.keys(state.nodes)[0];
    tabStop(this.body, this.elementOf(node));
  }

  /**
   * The node that an event speaks of comes into view; that of an event before, when a
   * leap has led elsewhere.
   * @param {View} view
   */
  follow({ event, position }) {
    const place = event?.n ? event : this.story.lastAtNode(position);
    if (!place || (place !== event && place.n === this.followed)) return;
    this.followed = place.n;
    const ofEdge = this.parts.get(`${place.e} alias`);
    const box = (ofEdge || this.parts.get(place.n))?.[0].box;
    const room = box && this.body.getBoundingClientRect();
    if (!room?.width) return;
    const node = this.drawing.placeOf(box);
    const inside =
      node.top > room.top && node.bottom < room.bottom &&
      node.left > room.left && node.right < room.right;
    if (inside) return;
    /** @param {number} from @param {number} to */
    const middle = (from, to) => (from + to) / 2;
    const zoom = this.body.currentCSSZoom || 1; // a presenter's type is larger
    const down = middle(node.top, node.bottom) - middle(room.top, room.bottom);
    const right = middle(node.left, node.right) - middle(room.left, room.right);
    this.body.scrollBy({ top: down / zoom, left: right / zoom, behavior: "instant" });
  }
}

/**
 * An edge is thin: what can be hit is wider than what is seen.
 * @param {SVGElement} part
 */
function wideCopy(part) {
  const wide = part.querySelector("path").cloneNode();
  wide.setAttribute("class", "hit");
  return wide;
}

/** @param {Box} box */
function tick(box) {
  const x = box.x + box.width - 2;
  const mark = svgElement("g", { class: "tick", transform: `translate(${x} ${box.y + 2})` });
  mark.append(svgElement("circle", { r: 7 }), svgElement("path", { d: "M-3 0 L-1 2.5 L3.5 -2.5" }));
  return mark;
}

/**
 * toLocaleString takes 40 ms when it is called first.
 * @param {number} count
 */
function thousands(count) {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** @param {State} state @param {number} count */
function passWords(state, count) {
  if (state.error) return message("graph.stopped");
  if (state.pass === "backward") return message("graph.backward");
  if (state.pass === "over") return message("graph.backward.over");
  const seen = Object.keys(state.nodes).length;
  return seen < count ? message("graph.faint") : "";
}

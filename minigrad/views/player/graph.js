// The graph pane.

import { element, pane, rove, svgElement, tabStop, tells } from "./dom.js";
import { message } from "./messages.js";
import { brief } from "./values.js";

const CHOICES = "g.node[role], g.edge[role], .badge.kept[role]";

// The drawing is made once; a step only changes states, badges and the marked place.
export class GraphPane {
  constructor(trace, story, index, choose) {
    this.trace = trace;
    this.story = story;
    this.index = index;
    this.choose = choose;
    Object.assign(this, pane("graph", message("graph.name")));
    this.empty = element("p", "empty");
    this.empty.hidden = trace.graph.nodes.length > 0;
    this.body.append(this.empty);
    this.parts = new Map(); // id of a node or edge -> its <g> elements
    const svg = trace.graph.svg && parseSvg(trace.graph.svg);
    if (svg) this.adopt(svg);
    else if (trace.graph.dot && this.empty.hidden) {
      this.body.append(element("pre", "dot", trace.graph.dot));
    }
  }

  adopt(svg) {
    this.svg = svg;
    svg.setAttribute("role", "group");
    svg.setAttribute("aria-label", message("graph.picture"));
    svg.removeAttribute("width");
    svg.removeAttribute("height");
    for (const title of [...svg.querySelectorAll("title")]) title.remove();
    for (const part of svg.querySelectorAll("g.node, g.edge")) {
      const ids = part.id.replace(/^mg_/, "").split("__");
      this.addPart(ids[0], part);
      if (ids[1]) this.addPart(`${ids[1]} alias`, part);
      if (part.classList.contains("node")) part.append(tick(part));
      this.makeChoice(part, ids[1] || ids[0], ids[0]);
    }
    rove(this.body, CHOICES);
    this.lit = [...this.parts]
      .filter(([id]) => !id.endsWith(" alias"))
      .map(([id, parts]) => ({ id, parts, edge: id in this.story.edges, state: null }));
    this.roomForBadges();
    this.drawing = svg.querySelector("g.graph") || svg;
    this.overlay = svgElement("g", { class: "overlay" });
    this.drawing.append(this.overlay);
    this.body.append(svg);
    new ResizeObserver(() => this.fit()).observe(this.body);
  }

  // A click on a node or an edge, or Enter, gives its steps; a tip tells its value.
  makeChoice(part, id, node) {
    const edge = part.classList.contains("edge");
    const what = edge ? `edge ${id}` : `node ${node}`;
    const name = edge ? this.edgeName(id) : this.nodeName(node);
    part.setAttribute("role", "button");
    part.setAttribute("tabindex", "-1");
    const { label, tensor } = this.story.nodes[node] || { label: node };
    const said = edge ? name : [label, tensor].filter(Boolean).join(" ");
    part.setAttribute("aria-label", message("steps.of", { name: said }));
    part.onclick = () => this.choose(what, name);
    if (edge) part.prepend(wideCopy(part));
    tells(part, () => ({ title: name, ...this.tellOf(edge ? id : null, node) }));
  }

  nodeName(id) {
    const { label, tensor } = this.story.nodes[id] || { label: id };
    return tensor ? message("node.name", { label, tensor }) : label;
  }

  edgeName(id) {
    const edge = this.story.edges[id];
    if (!edge) return id;
    const ends = { from: this.nodeName(edge.from), to: this.nodeName(edge.to) };
    return message("edge.name", ends);
  }

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

  addPart(id, part) {
    const parts = this.parts.get(id) || [];
    parts.push(part);
    this.parts.set(id, parts);
  }

  // Values are shown beside edges: leave room for them at both sides.
  roomForBadges() {
    const box = this.svg.viewBox.baseVal;
    const wanted = Math.max(box.width + 24, LETTERS_WIDE * MOST_LETTERS + 18);
    const x = box.x - (wanted - box.width) / 2;
    this.view = { x, y: box.y - 12, width: wanted, height: box.height + 24 };
    const { y, height } = this.view;
    this.svg.setAttribute("viewBox", `${x} ${y} ${wanted} ${height}`);
  }

  fit() {
    const width = this.body.clientWidth - 8;
    const height = this.body.clientHeight - 8;
    if (width <= 0) return;
    const whole = Math.min(width / this.view.width, height / this.view.height);
    const zoom = Math.min(1.35, Math.max(0.8, whole));
    this.svg.style.width = `${this.view.width * zoom}px`;
    this.svg.style.height = `${this.view.height * zoom}px`;
  }

  show(view) {
    const { state, event } = view;
    this.now = view;
    this.note.textContent = passWords(state, this.trace.graph.nodes.length);
    if (!this.empty.hidden) this.empty.textContent = this.emptyWords(view.position);
    if (!this.svg) return;
    this.overlay.replaceChildren();
    this.badges = [];
    for (const one of this.lit) {
      const now = (one.edge ? state.edges : state.nodes)[one.id] || "unseen";
      if (one.state === now) continue;
      one.state = now;
      for (const part of one.parts) part.dataset.state = now;
    }
    const travelling = event?.k === "grad" ? event.e : null;
    this.showBadges(view, travelling);
    this.showHandles(view);
    this.showCue(view);
    this.reach(event, state);
    this.follow(event);
    if (travelling && view.animate) this.travel(travelling, event.g, view.duration);
  }

  emptyWords(position) {
    if (position < this.trace.events.length) return message("graph.empty.so-far");
    if (this.trace.meta.error) return message("graph.empty.stopped");
    return message("graph.empty.unasked");
  }

  showBadges({ state, event, animate, duration }, travelling) {
    // The one that is spoken of comes first, and keeps its place.
    const first = (node) => Number(node === event?.n);
    const nodes = Object.keys(state.waiting).sort((a, b) => first(b) - first(a));
    for (const node of nodes) {
      for (const slot in state.waiting[node]) {
        const { parts, total } = state.waiting[node][slot];
        const sum = parts.length > 1 && parts.length <= 3;
        const addends = parts.map((part) => brief(this.trace, part)).join(" + ");
        const whole = brief(this.trace, total);
        const full = message("gradient.sum", { total: whole, parts: addends });
        // The sum is said in ctx as well: rather none here than a part of it.
        const words = sum && full.length <= MOST_LETTERS ? full : whole;
        const arriving = travelling && this.story.edges[travelling]?.to === node;
        const place = this.placeAbove(node, travelling, Number(slot));
        const badge = this.badge(words, "badge", place);
        if (arriving && animate) badge.style.animationDelay = `${duration}ms`;
        if (arriving) badge.classList.add("arriving");
      }
    }
    for (const node in state.grads) {
      const tensor = this.story.nodes[node]?.tensor || message("tensor.unnamed");
      const value = brief(this.trace, state.grads[node]);
      const words = message("gradient.kept", { tensor, value });
      const fresh = event.k === "grad.accumulate" && event.n === node;
      const badge = this.badge(words, fresh ? "badge kept cue" : "badge kept", this.placeBelow(node));
      const name = message("grad.name", { tensor });
      badge.setAttribute("role", "button");
      badge.setAttribute("tabindex", "-1");
      badge.setAttribute("aria-label", message("steps.of", { name: words }));
      badge.onclick = () => this.choose(`grad ${node}`, name);
      tells(badge, () => ({ title: name, ref: state.grads[node] }));
    }
  }

  // Beside a node: the variables that stand for its output, and the output's tangent.
  showHandles({ state, event }) {
    const names = {};
    for (const name in state.handles) (names[state.handles[name]] ||= []).push(name);
    for (const node in names) {
      const fresh = names[node].some((name) => event?.h?.[name] === node);
      const words = names[node].join(", ");
      const place = this.placeLeft(node, words);
      this.badge(words, fresh ? "badge handle cue" : "badge handle", place);
    }
    for (const node in state.tangents) {
      const words = message("tangent.beside", { value: brief(this.trace, state.tangents[node]) });
      const fresh = event?.k === "tangent" && event.n === node;
      this.badge(words, fresh ? "badge tangent cue" : "badge tangent", this.placeRight(node));
    }
  }

  badge(words, className, place) {
    const badge = svgElement("g", { class: className });
    if (!place) return badge;
    const short =
      words.length > MOST_LETTERS ? `${words.slice(0, MOST_LETTERS - 1)}…` : words;
    const width = short.length * LETTERS_WIDE + 10;
    const left = this.view.x - this.shift().x + 2;
    const most = left + this.view.width - width - 4;
    const x = Math.max(left, Math.min(most, place.x - width / 2));
    const box = { x, y: place.y - 8, width, height: 16, rx: 8 };
    // One that would cover another moves on, away from the node.
    while (this.badges.some((other) => overlap(other, box))) box.y += 18 * (place.away || -1);
    this.badges.push(box);
    const text = svgElement("text", { x: x + width / 2, y: box.y + 11.5 });
    text.textContent = short;
    badge.append(svgElement("rect", box), text);
    this.overlay.append(badge);
    return badge;
  }

  // Graphviz moves the whole drawing by a translation; the overlay lives inside it.
  shift() {
    const move = this.drawing.transform?.baseVal.consolidate?.();
    return move ? { x: move.matrix.e, y: move.matrix.f } : { x: 0, y: 0 };
  }

  nodeBox(node, edge = null) {
    const parts = (edge && this.parts.get(`${edge} alias`)) || this.parts.get(node);
    return parts ? shapeBox(parts[0]) : null;
  }

  // Over the socket of an output, where a node has several.
  placeAbove(node, edge, slot = 0) {
    const box = this.nodeBox(node, edge);
    const sockets = this.story.nodes[node]?.outputs || 1;
    return box && { x: box.x + (box.width * (slot + 0.5)) / sockets, y: box.y - 6 };
  }

  placeLeft(node, words) {
    const box = this.nodeBox(node);
    const inward = words.length * 3.15 - 1;
    return box && { x: box.x - inward, y: box.y + box.height - 6 };
  }

  placeRight(node) {
    const box = this.nodeBox(node);
    return box && { x: box.x + box.width + 14, y: box.y + box.height / 2 };
  }

  placeBelow(node) {
    const box = this.nodeBox(node);
    return box && { x: box.x + box.width / 2, y: box.y + box.height + 6, away: 1 };
  }

  // The cue is put at the edge or node the event speaks of, else at the ctx's own node.
  showCue({ state, event, cue }) {
    const owner = this.story.ctxs[state.cid]?.node;
    const node = event?.n || owner;
    this.marked?.classList.remove("marked");
    this.marked = null;
    if (!cue || !node) return;
    const box = this.nodeBox(node, event.e);
    if (!box) return;
    this.marked = this.parts.get(node)?.[0];
    this.marked?.classList.add("marked");
    const said = event.k === "grad.accumulate" || cue.includes(this.story.nodes[node].label);
    if (said) return; // the badge of .grad, or the node itself, says it already
    const x = box.x + box.width;
    this.badge(cue, "badge cue", { x, y: box.y + box.height + 7, away: 1 });
  }

  // Tab comes to the node that is spoken of, else to the first one that is there.
  reach(event, state) {
    if (this.body.contains(document.activeElement) && document.activeElement !== this.body) return;
    const owner = this.story.ctxs[state.cid]?.node;
    const node = event?.n || owner || Object.keys(state.nodes)[0];
    tabStop(this.body, this.parts.get(node)?.[0]);
  }

  follow(event) {
    const id = event?.n;
    const part = id && this.parts.get(id)?.[0];
    if (!part) return;
    const node = part.getBoundingClientRect();
    const room = this.body.getBoundingClientRect();
    if (!room.width) return;
    const inside =
      node.top > room.top && node.bottom < room.bottom &&
      node.left > room.left && node.right < room.right;
    if (inside) return;
    this.body.scrollTop += node.top + node.height / 2 - room.top - room.height / 2;
    this.body.scrollLeft += node.left + node.width / 2 - room.left - room.width / 2;
  }

  travel(id, gradient, duration) {
    const path = this.parts.get(id)?.[0].querySelector("path");
    if (!path) return;
    const length = path.getTotalLength();
    const ball = svgElement("g", { class: "ball" });
    const words = svgElement("text", { x: 9, y: 3.5 });
    words.textContent = brief(this.trace, gradient);
    ball.append(svgElement("circle", { r: 5 }), words);
    this.overlay.append(ball);
    const begin = performance.now();
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

function parseSvg(text) {
  const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
  if (parsed.querySelector("parsererror")) return null;
  for (const risky of parsed.querySelectorAll("script, foreignObject, a")) risky.remove();
  return document.importNode(parsed.documentElement, true);
}

// getBBox needs a drawn element; the outline's own points are there from the start.
// A node with several outputs is drawn with several outlines.
function shapeBox(part) {
  const shapes = [...part.querySelectorAll("path, polygon, ellipse")];
  const drawn = shapes.filter((shape) => !shape.closest(".tick"));
  const numbers = drawn
    .map((shape) => shape.getAttribute("d") || shape.getAttribute("points") || "")
    .join(" ")
    .match(/-?[\d.]+/g)
    ?.map(Number);
  if (!numbers) return { x: 0, y: 0, width: 0, height: 0 };
  const xs = numbers.filter((_, index) => index % 2 === 0);
  const ys = numbers.filter((_, index) => index % 2 === 1);
  const x = Math.min(...xs);
  const y = Math.min(...ys);
  return { x, y, width: Math.max(...xs) - x, height: Math.max(...ys) - y };
}

const MOST_LETTERS = 40;
const LETTERS_WIDE = 6.3;

function overlap(one, other) {
  const beside = one.x + one.width <= other.x || other.x + other.width <= one.x;
  return !beside && Math.abs(one.y - other.y) < one.height;
}

// An edge is thin: what can be hit is wider than what is seen.
function wideCopy(part) {
  const wide = part.querySelector("path").cloneNode();
  wide.setAttribute("class", "hit");
  return wide;
}

function tick(part) {
  const box = shapeBox(part);
  const x = box.x + box.width - 2;
  const mark = svgElement("g", { class: "tick", transform: `translate(${x} ${box.y + 2})` });
  mark.append(svgElement("circle", { r: 7 }), svgElement("path", { d: "M-3 0 L-1 2.5 L3.5 -2.5" }));
  return mark;
}

function passWords(state, count) {
  if (state.pass === "backward") return message("graph.backward");
  if (state.pass === "over") return message("graph.backward.over");
  const seen = Object.keys(state.nodes).length;
  return seen < count ? message("graph.faint") : "";
}

// The picture of the computation: where it is looked at from, and what of it is in the page.
//
// A large picture is in the page only around the place that is looked at: thousands of
// shapes would cost tens of milliseconds at every step.

import { bodyOf, element, rove, setText, svgElement, tabStop, tells } from "./dom.js";
import { message } from "./messages.js";
import { narrowed } from "./narrow.js";
import { callOf, dataOf, leafOf, setKinds } from "./scene.js";
import { brief, labelOf, shapeWords } from "./values.js";
import { curvesOf, flowOf, placeTags, spotsOf, wireOf } from "./wires.js";

const CHOICES = ".hit[role]";
const ALL_DRAWN = 300; // things; of a picture with more there is a window
const AROUND = 250; // points drawn beyond the edges of the window
export const LEAST_SCALE = 11 / 13; // the smallest text has 13 points, and is never below 11
const ON_PAGE = { border: [12, 12], least: LEAST_SCALE, most: 1.5 };
const ON_WALL = { border: [2, 2], most: 3 };
const CORNERS = [[1, 1], [0, 1], [1, 0], [0, 0]]; // where the map may lie
const MOST_HIGH = 560;
const LAYERS = ["flows", "wires", "parts", "tags", "overlay"];
let count = 0;

export class PicturePane {
  constructor(player) {
    const { trace, story } = player;
    Object.assign(this, { player, trace, story }, ON_PAGE);
    this.name = `mg-tip-${(count += 1)}`;
    this.pictures = trace.graph.pictures || [];
    const hidden = this.pictures.length > 0 || trace.graph.nodes.length > 0;
    this.empty = element("p", { className: "empty", hidden });
    this.note = element("p", { className: "window-note", hidden: true });
    this.body = bodyOf(message("picture.region"));
    this.body.append(this.empty);
    this.box = element("section", { className: "pane graph", ariaLabel: message("graph.name") }, this.body, this.note);
    this.parts = new Map(); // the id of a node or an edge -> where it is drawn
    if (this.pictures.length) this.begin();
  }

  begin() {
    this.svg = svgElement("svg", { class: "scene", role: "group", "aria-label": message("graph.picture") });
    this.map = svgElement("svg", { class: "map", "aria-hidden": "true", preserveAspectRatio: "none" });
    this.map.onclick = (event) => this.goTo(event);
    this.body.append(this.svg, this.map);
    this.zoomBox = this.zoomButtons();
    rove(this.body, CHOICES);
    this.adopt(this.pictures[0]);
    this.watchPointer();
    new ResizeObserver(() => this.resized()).observe(this.body);
  }

  adopt(picture) {
    this.picture = picture;
    this.parts.clear();
    this.layers = Object.fromEntries(LAYERS.map((name) => [name, svgElement("g", { class: name })]));
    this.svg.replaceChildren(this.tips(), ...Object.values(this.layers));
    const curves = curvesOf(picture);
    const tags = placeTags(this.trace, picture, curves);
    this.things = [];
    for (const line of picture.lines) {
      const layer = line.k === "wire" ? "wires" : "flows";
      const make = () => (line.k === "wire" ? wireOf(this, line, tags[line.id]) : flowOf(this, line));
      this.addThing(line.k === "wire" ? line.id : "", line, around(curves.get(line)), layer, make);
    }
    for (const part of picture.parts) {
      const make = () => ({ call: callOf, leaf: leafOf, data: dataOf })[part.k](this, part);
      this.addThing(part.n, part, boxOfPart(part), "parts", make);
      if (!part.n) this.parts.set(part.id, [this.things.at(-1)]);
      for (const inner of [...(part.inside || []), ...(part.leaves || [])]) {
        if (inner !== part.n) this.parts.set(inner, this.parts.get(part.n));
      }
    }
    this.windowed = this.things.length > ALL_DRAWN;
    this.layMap();
    this.note.hidden = !this.windowed;
    const [nodes, edges] = [this.trace.graph.nodes, this.trace.graph.edges].map(({ length }) => thousands(length));
    setText(this.note, message("graph.window", { nodes, edges }));
    this.drawn = [];
    this.fitted = false;
  }

  // Of a picture that is in the page only in part: where its parts are, and what is seen.
  layMap() {
    const [width, height] = this.picture.size;
    this.map.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const spots = this.picture.parts.flatMap(spotsOf);
    const parts = spots.map(([x, y, w, h]) => `M${x} ${y}h${w}v${h}h${-w}z`).join("");
    const lines = this.picture.lines.map(({ d }) => d).join("");
    this.seen = svgElement("rect", { class: "seen" });
    this.map.replaceChildren(svgElement("path", { d: lines }), svgElement("path", { class: "parts", d: parts }), this.seen);
  }

  goTo({ clientX, clientY }) {
    const { x, y } = new DOMPoint(clientX, clientY).matrixTransform(this.map.getScreenCTM().inverse());
    const [, , w, h] = this.view;
    this.isWhole = false;
    this.look([x - w / 2, y - h / 2, w, h]);
  }

  // A part or a line: where it is, and what it is in the page, once it was there.
  addThing(id, of, box, layer, make) {
    const thing = { id, of, box, layer, make, shape: null };
    this.things.push(thing);
    if (id) this.parts.set(id, [...(this.parts.get(id) || []), thing]);
  }

  // The heads of arrows; each player has its own, as ids are the page's.
  tips() {
    const markers = ["flow", "wire"].map((kind) => {
      const is = {
        id: this.tip(kind), viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 9, markerHeight: 9,
        markerUnits: "userSpaceOnUse", orient: "auto-start-reverse",
      };
      return svgElement("marker", is, svgElement("path", { class: `tip-${kind}`, d: "M0 0L8 4L0 8Z" }));
    });
    return svgElement("defs", {}, ...markers);
  }

  tip(kind) {
    return `${this.name}-${kind}`;
  }

  zoomButtons() {
    const toggle = { title: message("zoom.open"), onclick: () => this.toggleModules() };
    this.opener = this.pictures.length > 1 ? element("button", toggle, message("zoom.open.short")) : null;
    const button = (words, title, onclick) => element("button", { title, ariaLabel: title, onclick }, words);
    return element("div", "zoom", this.opener,
      button("−", message("zoom.out"), () => this.zoom(1.25)),
      button(message("zoom.fit.short"), message("zoom.fit"), () => this.fit()),
      button("+", message("zoom.in"), () => this.zoom(0.8)),
    );
  }

  // Modules as cards, or all that is in them.
  toggleModules() {
    const open = this.picture === this.pictures[0];
    this.adopt(this.pictures[Number(open)]);
    this.opener.textContent = message(open ? "zoom.fold.short" : "zoom.open.short");
    this.fit();
    this.show(this.now);
    this.measure(this.now);
  }

  // A click on a call, or Enter, gives its steps, and pins its ctx.
  makeNode(shape, node, title) {
    const name = this.nodeName(node);
    const written = title && !name.includes(title) ? `${title}, ${name}` : name;
    const ctx = this.story.nodes[node]?.ctx ?? null;
    const pin = () => ctx !== null && this.player.inspect(true, ctx);
    this.makeButton(shape, `node ${node}`, name, () => this.tellOf(null, node), written, pin);
  }

  makeData(shape, part) {
    const name = part.t || message("tensor.unnamed");
    this.makeButton(shape, `value ${part.id} 0`, name, () => ({ ref: part.v }));
    shape.querySelector(".hit").ariaLabel = message("edit.of", { name });
  }

  makeSlot(slot, part) {
    const name = message("grad.name", { tensor: part.t || message("tensor.unnamed") });
    this.makeButton(slot, `grad ${part.n}`, name, () => ({ ref: this.now.state.grads[part.n] }));
  }

  // What lies over a shape is its button, which leads to its steps: it says in words what the
  // shape shows.
  makeButton(shape, what, name, told, written = name, also = () => {}) {
    const hit = shape.closest(".hit") || shape.querySelector(".hit");
    hit.setAttribute("tabindex", "-1");
    const onclick = () => {
      if (this.dragged) return;
      this.player.choose(what, name);
      also();
    };
    Object.assign(hit, { role: "button", ariaLabel: message("steps.of", { name: written }), onclick });
    if (told) tells(shape, () => ({ title: name, ...told() }));
  }

  nodeName(id) {
    return labelOf(this.story.nodes[id] || { label: id });
  }

  edgeName(id) {
    const edge = this.story.edges[id];
    return message("edge.name", { from: this.nodeName(edge.from), to: this.nodeName(edge.to) });
  }

  tellOf(edge, node) {
    const { state, position } = this.now;
    const unseen = (edge ? state.edges[edge] : state.nodes[node]) === undefined;
    if (unseen) return { words: [message("tip.unseen")] };
    if (edge) {
      const gone = state.edges[edge] !== "seen" && this.player.index.last(`edge ${edge}`, position);
      return gone?.ref ? { words: [message("tip.last")], ref: gone.ref } : {};
    }
    if (state.grads[node]) {
      const tensor = this.story.nodes[node]?.tensor || message("tensor.unnamed");
      return { words: [message("gradient.now", { tensor })], ref: state.grads[node] };
    }
    const waiting = Object.values(state.waiting[node] || {})[0];
    return waiting && state.nodes[node] !== "done" ? { words: [message("tip.waits")], ref: waiting.total } : {};
  }

  // The height at which all of it can be read, if that is not too high for a page.
  readableHeight() {
    return this.picture ? Math.min(MOST_HIGH, this.picture.size[1] * LEAST_SCALE + 2 * ON_PAGE.border[1]) : 0;
  }

  whole() {
    return this.picture.size.map((one, at) => one + 2 * this.border[at]);
  }

  present(onWall) {
    Object.assign(this, onWall ? ON_WALL : ON_PAGE, { onWall, width: 0 });
    if (this.picture && !this.windowed) {
      const at = this.pictures.indexOf(this.picture);
      const { pictures } = this.trace.graph;
      this.pictures = onWall ? pictures.map((one) => narrowed(this.trace, one, one.parts.map(boxOfPart))) : pictures;
      this.adopt(this.pictures[at]);
    }
    this.resized();
  }

  // How much of it is seen at once where it can be read. To go along a picture is easier to
  // follow than up and down, where a value is and where its box.
  share() {
    if (!this.picture) return 1;
    const { clientWidth, clientHeight } = this.body;
    const [wide, tall] = this.whole().map((one) => one * this.least);
    return Math.min(1, clientWidth / wide) * (clientHeight < tall ? (0.4 * clientHeight) / tall : 1);
  }

  // How wide all of it is in a place that is so high.
  needs(high) {
    if (!this.picture) return 0;
    const [wide, tall] = this.whole();
    return Math.ceil(wide * Math.max(this.least, high / tall));
  }

  resized() {
    const { clientWidth, clientHeight } = this.body;
    if (clientWidth !== this.width || clientHeight !== this.height) this.fit();
  }

  fit() {
    const { clientWidth: width, clientHeight: height } = this.body;
    if (!this.picture || !width || !height) return;
    const [wide, tall] = this.whole();
    const { border, least, most } = this;
    const whole = Math.min(width / wide, height / tall, most);
    const scale = Math.max(whole, least);
    const [w, h] = [width / scale, height / scale];
    Object.assign(this, { width, height, fitted: true, isWhole: scale === whole });
    this.map.style.display = this.windowed || (this.onWall && !this.isWhole) ? "" : "none";
    const [room, map] = [this.svg, this.map].map((one) => one.getBoundingClientRect());
    this.mapShare = [(map.width + 8) / room.width, (map.height + 8) / room.height];
    const x = Math.max(0, w - wide) / -2 - border[0];
    const y = Math.max(0, h - tall) / -2 - border[1];
    this.look([x, y, w, h]);
    if (!this.isWhole && this.now) this.follow(this.now, true);
  }

  zoom(by, cx = 0.5, cy = 0.5) {
    if (!this.view) return;
    const [x, y, w, h] = this.view;
    const factor = Math.min(8 * this.width, Math.max(w * by, this.width / 3)) / w;
    this.isWhole = false;
    this.look([x + w * (1 - factor) * cx, y + h * (1 - factor) * cy, w * factor, h * factor]);
  }

  look(view) {
    this.view = view;
    this.svg.setAttribute("viewBox", view.map((one) => one.toFixed(1)).join(" "));
    ["x", "y", "width", "height"].forEach((name, at) => this.seen.setAttribute(name, view[at]));
    if (this.now) this.draw();
  }

  watchPointer() {
    this.svg.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return; // the page scrolls
      event.preventDefault();
      const { left, top, width, height } = this.svg.getBoundingClientRect();
      this.zoom(event.deltaY > 0 ? 1.1 : 0.9, (event.clientX - left) / width, (event.clientY - top) / height);
    }, { passive: false });
    this.svg.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      this.dragged = false;
      if (this.grab?.(event)) return; // a number is dragged, and not the picture
      const [x, y, w, h] = this.view;
      const scale = this.width / w;
      const listening = new AbortController();
      const { signal } = listening;
      addEventListener("pointermove", (now) => {
        const [dx, dy] = [(now.clientX - event.clientX) / scale, (now.clientY - event.clientY) / scale];
        if (Math.abs(dx) + Math.abs(dy) > 4) this.dragged = true;
        if (this.dragged) this.look([x - dx, y - dy, w, h]);
      }, { signal });
      for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => listening.abort(), { signal });
    });
  }

  show(view) {
    this.now = view;
    if (!this.empty.hidden) setText(this.empty, this.emptyWords(view.position));
    if (!this.svg) return;
    this.svg.classList.toggle("still", !view.animate);
    const { pass, error } = view.state;
    this.box.dataset.pass = error ? "error" : pass || "forward";
    for (const thing of this.drawn) this.showThing(thing);
  }

  showThing({ made, of, shape, id }) {
    made.show(this.now);
    if (!id) return;
    const { edges, nodes } = this.now.state;
    const [node, states] = "d" in of ? [shape, edges] : [shape.querySelector(".node"), nodes];
    const now = states[id] || "unseen";
    if (node.dataset.state !== now) node.dataset.state = now;
  }

  // Brings what is near the view into the page, takes the rest out; what has the focus stays.
  draw() {
    const [x, y, w, h] = this.view;
    const near = { x: x - AROUND, y: y - AROUND, width: w + 2 * AROUND, height: h + 2 * AROUND };
    const focused = this.svg.contains(document.activeElement) && document.activeElement;
    const wanted = this.windowed
      ? this.things.filter(({ box, shape }) => meet(box, near) || (focused && shape?.contains(focused)))
      : this.things;
    if (wanted.length === this.drawn.length && wanted.every((one, place) => one === this.drawn[place])) return;
    const stays = new Set(wanted);
    for (const { made } of this.drawn.filter((thing) => !stays.has(thing))) {
      made.shape.remove();
      made.over?.remove();
    }
    const here = new Set(this.drawn);
    this.drawn = wanted;
    for (const thing of wanted) {
      if (here.has(thing)) continue;
      thing.made ||= thing.make();
      thing.shape = thing.made.shape;
      this.layers[thing.layer].append(thing.shape);
      if (thing.made.over) this.layers.tags.append(thing.made.over);
      this.showThing(thing);
    }
    this.drew?.();
  }

  // After all panes have changed: the view is moved to what is spoken of.
  measure(view) {
    if (!this.svg) return;
    if (!this.fitted) this.fit();
    if (!this.fitted) return;
    this.follow(view);
    this.draw();
    this.reach(view);
    this.layers.overlay.replaceChildren();
    if (!view.animate) return;
    // The gradients that have gone their way since the stop before.
    for (const { k, e, g } of this.story.events.slice(view.since, view.position)) {
      if (k === "grad" && e) this.travel(e, g, view.duration);
    }
  }

  // What of the picture can be seen, as a viewBox: for a picture to save.
  inView() {
    const [side, above] = ON_PAGE.border;
    const [wide, tall] = this.picture.size;
    return this.windowed ? this.view : [-side, -above, wide + 2 * side, tall + 2 * above];
  }

  emptyWords(position) {
    if (position < this.trace.events.length) return message("graph.empty.so-far");
    if (this.trace.meta.error) return message("graph.empty.stopped");
    return message("graph.empty.unasked");
  }

  // The element of a node or edge, where it is drawn now.
  elementOf(name) {
    const shape = this.parts.get(name)?.find((one) => one.shape?.isConnected)?.shape;
    return shape?.querySelector(".node") || shape || null;
  }

  // Tab comes to the node that is spoken of, else to the first one that is there.
  reach({ event, state }) {
    const focused = document.activeElement;
    if (this.body.contains(focused) && focused !== this.body) return;
    const owner = this.story.ctxs[state.cid]?.node;
    const node = event?.n || owner || Object.keys(state.nodes)[0] || this.trace.graph.nodes.at(-1)?.id;
    const shape = this.elementOf(node) || this.svg.querySelector(".node");
    tabStop(this.body, shape?.querySelector(".hit"));
  }

  // What an event speaks of comes into view, where not all is.
  follow({ event, state, position }, anew = false) {
    if (this.isWhole) return;
    const place = event?.n ? event : this.story.lastAtNode(position);
    const node = event?.call || place?.n || this.story.ctxs[state.cid]?.node || state.cid || this.trace.graph.nodes[0]?.id;
    if (!anew && node === this.followed && place !== event) return;
    this.followed = node;
    const things = this.parts.get(node) || [];
    const wire = place?.e && this.parts.get(place.e)?.[0];
    const thing = things.find(({ of }) => wire && "to" in wire.of && of.id === wire.of.of) || things[0];
    if (!thing) return;
    const [x, y, w, h] = this.view;
    const spots = [thing, wire].filter(Boolean).map(({ box: { x, y, width, height } }) => [x, y, width, height]);
    const both = around(spots);
    const box = both.width <= w && both.height <= h ? both : thing.box;
    const inside = box.x >= x && box.x + box.width <= x + w && box.y >= y && box.y + box.height <= y + h;
    if (!inside) {
      const [wide, tall] = this.whole();
      const [side, above] = this.border;
      this.look([placed(box.x - (w - box.width) / 2, w, wide, side), placed(box.y - (h - box.height) / 2, h, tall, above), w, h]);
    }
    // The map covers nothing that is spoken of, and little else.
    const [left, top] = this.view;
    const [width, height] = [w * this.mapShare[0], h * this.mapShare[1]];
    const covered = ([over, down]) => {
      const place = { x: left + over * (w - width), y: top + down * (h - height), width, height };
      const parts = this.drawn.filter(({ layer, box: one }) => layer === "parts" && meet(one, place));
      return parts.length + (meet(thing.box, place) ? 99 : 0);
    };
    const [over, down] = CORNERS.reduce((one, other) => (covered(other) < covered(one) ? other : one));
    setKinds(this.map, { left: !over, above: !down });
  }

  travel(id, gradient, duration) {
    const path = this.elementOf(id)?.querySelector(".line");
    if (!path) return;
    const value = gradient?.v && this.trace.values[gradient.v];
    const written = brief(this.trace, gradient);
    const words = value && written.length > 14 ? shapeWords(value.shape) : written;
    const width = words.length * 8.1 + 16;
    const rect = svgElement("rect", { x: -width / 2, y: -12, width, height: 24, rx: 12 });
    const style = `offset: path("${path.getAttribute("d")}") 0deg`;
    const ball = svgElement("g", { class: "ball", style }, rect, svgElement("text", { y: 5 }, words));
    this.layers.overlay.append(ball);
    const easing = "cubic-bezier(0.333, 0.667, 0.667, 1)"; // fast at first, as a parabola
    ball.animate({ offsetDistance: ["100%", "0%"] }, { duration, easing }).onfinish = () => ball.remove();
  }
}

function boxOfPart(part) {
  return around([...spotsOf(part), part.tray].filter(Boolean));
}

function around(spots) {
  let [x, y, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const [left, top, wide, tall] of spots) {
    x = Math.min(x, left);
    y = Math.min(y, top);
    right = Math.max(right, left + wide);
    bottom = Math.max(bottom, top + tall);
  }
  return { x, y, width: right - x, height: bottom - y };
}

// toLocaleString takes 40 ms when it is called first.
function thousands(count) {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

// Where a view begins that is to begin at `wanted`: nothing beyond the border is seen.
function placed(wanted, room, all, border) {
  if (room >= all) return (all - room) / 2 - border;
  return Math.max(-border, Math.min(wanted, all - room - border));
}

function meet(one, other) {
  return (
    one.x <= other.x + other.width && other.x <= one.x + one.width &&
    one.y <= other.y + other.height && other.y <= one.y + one.height
  );
}

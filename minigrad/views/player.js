// The minigrad player: one recording, shown step by step. No dependencies, no build.
//
// Four parts: the story (events folded into a state), words and values, the three
// panes (code, graph, ctx), and the player that ties them to buttons and keys.
// A position is a number of events: at position i the first i events have happened.
// Text of a recording reaches the page through textContent only.

const SVG = "http://www.w3.org/2000/svg";

const PHASES = {
  apply: [
    "collect inputs",
    "create ctx",
    "run forward",
    "take what was saved",
    "wrap outputs",
    "wire edges",
  ],
  backward: [
    "pick the newest ready node",
    "call its backward",
    "check what it returned",
    "add into the receivers",
    "release",
  ],
};

const LEVELS = { 1: "Story", 2: "Story + my lines", 3: "Everything" };
const SPEEDS = [0.5, 1, 2, 4];

// ---------------------------------------------------------------- 1. the story

const KEYFRAME_EVERY = 64;

export class Story {
  constructor(trace) {
    this.trace = trace;
    this.events = trace.events;
    this.length = trace.events.length;
    this.nodes = byId(trace.graph.nodes);
    this.edges = byId(trace.graph.edges);
    this.ctxs = byId(trace.ctxs || []);
    this.keyframes = [blankState()];
    const state = blankState();
    this.events.forEach((event, index) => {
      this.advance(state, event);
      if ((index + 1) % KEYFRAME_EVERY === 0) this.keyframes.push(structuredClone(state));
    });
  }

  // A step forward goes on from the state before; any other move from a keyframe.
  stateAt(position) {
    const keyframe = Math.floor(position / KEYFRAME_EVERY);
    let { state, at } = this.before || {};
    if (!state || at > position || at < keyframe * KEYFRAME_EVERY) {
      state = structuredClone(this.keyframes[keyframe]);
      at = keyframe * KEYFRAME_EVERY;
    }
    for (; at < position; at++) this.advance(state, this.events[at]);
    this.before = { state, at };
    return state;
  }

  stopsAt(level) {
    const stops = [0];
    this.events.forEach((event, index) => {
      if (event.lvl <= level) stops.push(index + 1);
    });
    return stops;
  }

  // What the events after position `from` up to `to` set: ctx entries and locals.
  changes(from, to) {
    const ctx = new Set();
    const locals = new Set();
    for (const event of this.events.slice(from, to)) {
      if (event.ctx) for (const key in event.ctx.set) ctx.add(`${event.ctx.id} ${key}`);
      for (const name in event.loc || {}) locals.add(name);
    }
    return { ctx, locals };
  }

  advance(state, event) {
    settle(state, event);
    if (event.ctx) this.changeCtx(state, event.ctx);
    if (event.cid !== undefined) state.cid = event.cid;
    else if (event.ctx) state.cid = event.ctx.id;
    notePhase(state, event, this.isEngine(event.s));
    if (event.out) state.printed += event.out;
    HANDLERS[event.k]?.(state, event, this);
    if (!LINE_EVENTS.has(event.k)) visitLine(state, event);
  }

  isEngine(source) {
    return this.trace.sources[source]?.role === "engine";
  }

  changeCtx(state, change) {
    const entries = (state.ctxs[change.id] ||= {});
    Object.assign(entries, change.set);
    for (const key of change.del || []) delete entries[key];
  }

  revealEdge(state, id) {
    state.edges[id] ||= "seen";
    const edge = this.edges[id];
    if (edge) state.nodes[edge.to] ||= "seen";
  }
}

function blankState() {
  return {
    stack: [], // frames: {s, l, d, locals, returned, failed, over}
    error: null,
    ctxs: {},
    cid: null,
    nodes: {}, // seen, active or done
    edges: {}, // seen, active (a gradient travels now), sent or none
    waiting: {}, // node -> {slot: {parts, total}}: what waits at a receiver
    grads: {}, // accumulate node -> the tensor's .grad
    phases: [],
    printed: "",
    pass: null, // null before backward, then "backward", then "over"
  };
}

// What was "now" at the last event has become "has been".
function settle(state, event) {
  for (const id in state.edges) if (state.edges[id] === "active") state.edges[id] = "sent";
  if (!state.error) state.stack = state.stack.filter((frame) => !frame.over);
}

// A phase holds while deeper frames run. Between two phases of one function none is
// marked; in another function at the same depth the phases are over.
function notePhase(state, event, inEngine) {
  if (event.unwound) return; // an exception leaves a frame: show where it was
  const { d, s, ph } = event;
  const outer = state.phases.filter((phase) => phase.d < d);
  const same = state.phases.find((phase) => phase.d === d && phase.s === s);
  if (ph) outer.push({ ...ph, d, s });
  else if (same && inEngine) outer.push({ ...same, name: null });
  state.phases = outer;
}

// The frame an event belongs to; frames above it have been left.
function frameOf(state, event) {
  const stack = state.stack;
  while (stack.length && stack.at(-1).d > event.d) stack.pop();
  const top = stack.at(-1);
  if (top && top.d === event.d && top.s === event.s) return top;
  if (top && top.d === event.d) stack.pop();
  stack.push({ s: event.s, l: null, d: event.d, locals: {} });
  return stack.at(-1);
}

// An event that is no line event may still say where in the code it happened.
function visitLine(state, event) {
  const frame = state.stack.findLast((frame) => frame.s === event.s);
  if (frame && event.l !== undefined) frame.l = event.l;
}

function resolveError(state) {
  state.error = null;
  for (const frame of state.stack) frame.failed = null;
}

const LINE_EVENTS = new Set(["call", "line", "return", "exception"]);

const HANDLERS = {
  call(state, event) {
    if (state.error) resolveError(state);
    const stack = state.stack;
    while (stack.length && stack.at(-1).d >= event.d) stack.pop();
    stack.push({ s: event.s, l: event.l ?? 0, d: event.d, locals: { ...event.loc } });
  },

  line(state, event) {
    if (state.error) resolveError(state);
    const frame = frameOf(state, event);
    frame.l = event.l;
    Object.assign(frame.locals, event.loc);
  },

  return(state, event) {
    if (state.error) return; // a frame left by an exception stays in sight
    const frame = frameOf(state, event);
    if (event.l !== undefined) frame.l = event.l;
    Object.assign(frame.locals, event.loc);
    frame.returned = event.val ?? null;
    frame.over = true;
  },

  exception(state, event) {
    if (!state.error) {
      state.error = event.err;
      const frame = frameOf(state, event);
      frame.l = event.l;
      frame.failed = event.err;
      return;
    }
    const caller = state.stack.find((one) => one.d === event.d && one.s === event.s);
    if (caller) caller.l = event.l;
  },

  "graph.node"(state, event, story) {
    state.nodes[event.n] ||= "seen";
    for (const id of event.e || []) story.revealEdge(state, id);
  },

  "backward.begin"(state, event) {
    state.pass = "backward";
    state.waiting = {};
    for (const id in state.nodes) state.nodes[id] = "seen";
    for (const id in state.edges) state.edges[id] = "seen";
    for (const root of event.roots || []) addWaiting(state, root.n, root.slot, root.g, root.g);
  },

  "node.enter"(state, event, story) {
    state.nodes[event.n] = "active";
    const waiting = state.waiting[event.n];
    state.waiting[event.n] = Object.fromEntries(
      (event.g || []).flatMap((gradient, slot) => {
        if (!gradient) return [];
        return [[slot, waiting?.[slot] || { parts: [gradient], total: gradient }]];
      }),
    );
    if (event.cid === undefined) state.cid = story.nodes[event.n]?.ctx ?? null;
  },

  grad(state, event, story) {
    state.edges[event.e] = "active";
    const slot = story.edges[event.e]?.to_slot || 0;
    addWaiting(state, event.n, slot, event.g, event.total || event.g);
  },

  "grad.none"(state, event) {
    state.edges[event.e] = "none";
  },

  "grad.accumulate"(state, event) {
    state.grads[event.n] = event.new;
  },

  "node.exit"(state, event) {
    state.nodes[event.n] = "done";
    delete state.waiting[event.n];
  },

  "backward.end"(state, event) {
    state.pass = "over";
  },
};

function addWaiting(state, node, slot, gradient, total) {
  const slots = (state.waiting[node] ||= {});
  const parts = slots[slot] ? [...slots[slot].parts, gradient] : [gradient];
  slots[slot] = { parts, total };
}

function byId(records) {
  return Object.fromEntries(records.map((record) => [record.id, record]));
}

// ------------------------------------------------------- 2. words and values

// At most four digits; the same words as minigrad.views.state.number.
export function number(x) {
  if (x === null || x === undefined) return "nan";
  if (typeof x !== "number" || !Number.isFinite(x)) return String(x);
  const size = Math.abs(x);
  if (Number.isInteger(x) && size < 1e6) return String(x);
  if (size >= 1e5 || size < 1e-3) return x.toExponential(2);
  return String(Number(x.toPrecision(4)));
}

const shapeWords = (shape) => (shape.length ? `[${shape.join("×")}]` : "scalar");

// One line for a value: used on edges, in returns and in labels.
export function brief(trace, ref) {
  if (!ref) return "None";
  if (ref.t === "P") return ref.r;
  if (ref.t === "L") {
    const items = ref.i.map((item) => brief(trace, item));
    return items.length === 1 ? `(${items[0]},)` : `(${items.join(", ")})`;
  }
  const value = trace.values[ref.v];
  if (!value) return ref.name || "?";
  const cells = value.rows.flat();
  if (!value.cut && value.shape.length === 0) return number(cells[0]);
  if (!value.cut && value.shape.length === 1 && cells.length <= 4) {
    return `[${cells.map(number).join(", ")}]`;
  }
  const shape = shapeWords(value.shape);
  if (value.min === value.max) return `${shape} all ${number(value.min)}`;
  return `${shape} ${number(value.min)} … ${number(value.max)}`;
}

// "saved.0" is shown as "saved[0]", "attr.constant" as "ctx.constant".
export function keyLabel(key) {
  const [family, ...rest] = key.split(".");
  if (family === "saved") return `saved[${rest.join(".")}]`;
  if (family === "attr") return `ctx.${rest.join(".")}`;
  return rest.length ? rest.join(".") : family;
}

function keyRank(key) {
  const order = ["saved", "attr", "needs_input_grad", "edges", "flag"];
  const rank = order.indexOf(key.split(".")[0]);
  return rank < 0 ? order.length : rank;
}

// The label that all three panes mark at this event, if it has one.
export function cueOf(event) {
  if (!event) return null;
  if (event.cue) return event.cue;
  const set = Object.keys(event.ctx?.set || {});
  if (set.length === 1 && event.k.startsWith("ctx.")) return keyLabel(set[0]);
  return null;
}

function element(tag, className = "", text = null) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== null) made.textContent = text;
  return made;
}

function svgElement(tag, attributes = {}) {
  const made = document.createElementNS(SVG, tag);
  for (const name in attributes) made.setAttribute(name, attributes[name]);
  return made;
}

const MAX_NUMBERS = 30;

// An array as a grid of tinted cells; with its numbers when there are few.
function heatMap(value) {
  const columns = value.rows[0]?.length || 0;
  const count = value.rows.length * columns;
  const withNumbers = count <= MAX_NUMBERS;
  const map = element("div", withNumbers ? "heat" : "heat tiny");
  map.setAttribute("role", "img");
  map.setAttribute(
    "aria-label",
    `array ${shapeWords(value.shape)}, ${number(value.min)} to ${number(value.max)}`,
  );
  map.style.gridTemplateColumns = `repeat(${columns}, auto)`;
  const most = Math.max(Math.abs(value.min), Math.abs(value.max)) || 1;
  for (const x of value.rows.flat()) {
    const cell = element("span", x < 0 ? "cell negative" : "cell");
    if (withNumbers) cell.textContent = number(x);
    else cell.title = number(x);
    const tint = Math.min(1, Math.abs(x || 0) / most) * 55;
    cell.style.setProperty("--tint", `${tint.toFixed(0)}%`);
    map.append(cell);
  }
  return map;
}

// A value as elements: what it is, its version, its numbers. Its name is left out where
// the label beside it says the same.
export function valueView(trace, ref, label = "") {
  const view = element("div", "value");
  if (!ref || ref.t === "P") {
    const text = ref ? ref.r : "None";
    view.append(element("code", text === "freed" ? "freed" : "", text));
    return view;
  }
  if (ref.t === "L") {
    if (ref.i.every((item) => !item || item.t === "P")) {
      view.append(element("code", "", brief(trace, ref)));
    } else {
      view.classList.add("list");
      for (const item of ref.i) view.append(valueView(trace, item));
    }
    return view;
  }
  const value = trace.values[ref.v];
  const line = element("div", "about");
  if (ref.name && ref.name !== label) line.append(element("b", "", ref.name));
  if (value) line.append(element("span", "", `${value.dtype} ${shapeWords(value.shape)}`));
  if (ref.t === "S") line.append(versionView(ref));
  if (ref.t === "S" && ref.out !== null && ref.out !== undefined) {
    line.append(element("span", "", `output ${ref.out}`));
  }
  if (ref.t === "T" && ref.ver > 0) line.append(element("span", "", `v${ref.ver}`));
  if (ref.t === "T" && ref.rg) line.append(element("span", "", "requires grad"));
  view.append(line);
  if (value) {
    view.append(heatMap(value));
    if (value.cut) {
      const range = `part shown; all: ${number(value.min)} … ${number(value.max)}`;
      view.append(element("div", "about", range));
    }
    if (value.nan) view.append(element("div", "about warn", `${value.nan} nan`));
  }
  return view;
}

function versionView(ref) {
  if (ref.now === ref.ver) return element("span", "", `saved at v${ref.ver}`);
  return element("span", "warn", `⚠ saved at v${ref.ver}, now v${ref.now}`);
}

// -------------------------------------------------------------- 3. the panes

function pane(className, name) {
  const box = element("section", `pane ${className}`);
  box.setAttribute("aria-label", name);
  const head = element("header");
  const title = element("h3", "", name);
  const note = element("span", "note");
  head.append(title, note);
  const body = element("div", "body");
  body.tabIndex = 0;
  body.setAttribute("role", "region");
  body.setAttribute("aria-label", `${name}, scrollable`);
  box.append(head, body);
  return { box, body, title, note };
}

// A stack of cards: the driver at the top, the frame that runs now at the bottom.
class CodePane {
  constructor(trace) {
    this.trace = trace;
    Object.assign(this, pane("code", "Code"));
    this.stack = element("div", "stack");
    this.printed = element("pre", "printed");
    this.printed.setAttribute("aria-label", "printed so far");
    this.body.append(this.stack, this.printed);
    this.cards = [];
  }

  show({ state, cue, trace }) {
    const frames = state.stack.length ? state.stack : this.restingFrames();
    this.matchCards(frames);
    const top = frames.length - 1;
    frames.forEach((frame, index) => {
      const role = index === top ? "top" : index < top - 1 ? "far" : "near";
      this.showFrame(this.cards[index], frame, role, index === top ? cue : null);
    });
    this.printed.hidden = !state.printed;
    this.printed.textContent = state.printed;
    for (const card of this.cards) card.inView(); // now that their heights are known
    const shown = frames[top] && trace.sources[frames[top].s];
    this.note.textContent = shown ? shown.name : "";
  }

  // Between frames the program itself is shown, with no line marked.
  restingFrames() {
    const driver = this.trace.sources.findIndex((source) => source.role === "driver");
    const index = driver < 0 ? 0 : driver;
    return this.trace.sources[index] ? [{ s: index, l: null, d: 0, locals: {} }] : [];
  }

  matchCards(frames) {
    frames.forEach((frame, index) => {
      if (this.cards[index]?.source === frame.s) return;
      const card = this.makeCard(frame.s);
      if (this.cards[index]) this.cards[index].box.replaceWith(card.box);
      else this.stack.append(card.box);
      this.cards[index] = card;
    });
    for (const card of this.cards.splice(frames.length)) card.box.remove();
  }

  makeCard(index) {
    const source = this.trace.sources[index];
    const box = element("div", `card ${source.role}`);
    const head = element("div", "card-head");
    head.append(element("b", "", source.name), element("span", "", source.file));
    const listing = element("div", "listing");
    const lines = source.tokens.map((tokens, offset) => {
      const line = element("div", "line");
      line.append(element("span", "number", String(source.first + offset)));
      const text = element("span", "text");
      for (const [kind, part] of tokens) text.append(element("span", kind, part));
      line.append(text);
      listing.append(line);
      return line;
    });
    box.append(head, listing);
    return { box, head, listing, lines, source: index, notes: [] };
  }

  showFrame(card, frame, role, cue) {
    card.box.classList.remove("top", "near", "far");
    card.box.classList.add(role);
    for (const note of card.notes) note.remove();
    card.notes = [];
    card.inView = () => {};
    card.lines.forEach((line) => line.classList.remove("current", "caller", "failed"));
    const line = card.lines[frame.l];
    if (!line) return;
    line.classList.add(frame.failed ? "failed" : role === "top" ? "current" : "caller");
    if (cue) this.placeCue(card, line, element("span", "cue", cue));
    if (frame.failed) {
      this.annotate(card, line, element("div", "said failed", frame.failed), true);
    } else if (frame.over) {
      const text = `returns ${brief(this.trace, frame.returned)}`;
      this.annotate(card, line, element("div", "said", text), true);
    }
    card.inView = () => keepInView(card.listing, line, card.notes.at(-1));
  }

  // Beside the line, where it does not hide code; else in the heading of the card.
  placeCue(card, line, mark) {
    this.annotate(card, line, mark, false);
    if (line.offsetWidth > card.listing.clientWidth) card.head.append(mark);
  }

  annotate(card, line, note, below) {
    if (below) line.after(note);
    else line.append(note);
    card.notes.push(note);
  }
}

function keepInView(box, line, note) {
  const top = line.offsetTop - box.offsetTop;
  const below = note && note.classList.contains("said") ? note.offsetHeight : 0;
  const bottom = top + line.offsetHeight + below;
  if (top < box.scrollTop || bottom > box.scrollTop + box.clientHeight) {
    const middle = top - Math.max(0, (box.clientHeight - (bottom - top)) / 2);
    const height = line.getBoundingClientRect().height;
    box.scrollTop = Math.round(middle / height) * height;
  }
}

// The drawing is made once; a step only changes states, badges and the marked place.
class GraphPane {
  constructor(trace, story) {
    this.trace = trace;
    this.story = story;
    Object.assign(this, pane("graph", "Graph"));
    this.empty = element("p", "empty");
    this.empty.hidden = trace.graph.nodes.length > 0;
    this.body.append(this.empty);
    this.parts = new Map(); // id of a node or edge -> its <g> elements
    const svg = trace.graph.svg && parseSvg(trace.graph.svg);
    if (svg) this.adopt(svg);
    else if (trace.graph.dot && this.empty.hidden) this.body.append(element("pre", "dot", trace.graph.dot));
  }

  adopt(svg) {
    this.svg = svg;
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", "the autograd graph");
    svg.removeAttribute("width");
    svg.removeAttribute("height");
    for (const title of [...svg.querySelectorAll("title")]) title.remove();
    for (const part of svg.querySelectorAll("g.node, g.edge")) {
      const ids = part.id.replace(/^mg_/, "").split("__");
      this.addPart(ids[0], part);
      if (ids[1]) this.addPart(`${ids[1]} alias`, part);
      if (part.classList.contains("node")) part.append(tick(part));
    }
    this.roomForBadges();
    this.drawing = svg.querySelector("g.graph") || svg;
    this.overlay = svgElement("g", { class: "overlay" });
    this.drawing.append(this.overlay);
    this.body.append(svg);
    new ResizeObserver(() => this.fit()).observe(this.body);
  }

  addPart(id, part) {
    const parts = this.parts.get(id) || [];
    parts.push(part);
    this.parts.set(id, parts);
  }

  // Values are shown beside edges: leave room for them at both sides.
  roomForBadges() {
    const box = this.svg.viewBox.baseVal;
    const wanted = Math.max(box.width + 24, 220);
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
    this.note.textContent = passWords(state, this.trace.graph.nodes.length);
    if (!this.empty.hidden) this.empty.textContent = this.emptyWords(view.position);
    if (!this.svg) return;
    this.overlay.replaceChildren();
    for (const [id, parts] of this.parts) {
      const known = id.replace(" alias", "");
      const now = this.story.edges[known]
        ? state.edges[known] || "unseen"
        : state.nodes[known] || "unseen";
      if (id !== known || parts[0].dataset.state === now) continue;
      for (const part of parts) part.dataset.state = now;
    }
    const travelling = event?.k === "grad" ? event.e : null;
    this.showBadges(view, travelling);
    this.showCue(view);
    this.follow(event);
    if (travelling && view.animate) this.travel(travelling, event.g, view.duration);
  }

  emptyWords(position) {
    if (position < this.trace.events.length) return "No node so far.";
    if (this.trace.meta.error) return "No node: the run stopped before one was made.";
    return "No node: nothing here asks for a gradient.";
  }

  showBadges({ state, event, animate, duration }, travelling) {
    for (const node in state.waiting) {
      for (const slot in state.waiting[node]) {
        const { parts, total } = state.waiting[node][slot];
        const sum = parts.length > 1 && parts.length <= 3;
        const words = sum
          ? `${brief(this.trace, total)} = ${parts.map((p) => brief(this.trace, p)).join(" + ")}`
          : brief(this.trace, total);
        const arriving = travelling && this.story.edges[travelling]?.to === node;
        const badge = this.badge(words, "badge", this.placeAbove(node, travelling));
        if (arriving && animate) badge.style.animationDelay = `${duration}ms`;
        if (arriving) badge.classList.add("arriving");
      }
    }
    for (const node in state.grads) {
      const tensor = this.story.nodes[node]?.tensor || "tensor";
      const words = `${tensor}.grad = ${brief(this.trace, state.grads[node])}`;
      const fresh = event.k === "grad.accumulate" && event.n === node;
      this.badge(words, fresh ? "badge kept cue" : "badge kept", this.placeBelow(node));
    }
  }

  badge(words, className, place) {
    const badge = svgElement("g", { class: className });
    if (!place) return badge;
    const short = words.length > 34 ? `${words.slice(0, 33)}…` : words;
    const width = short.length * 6.3 + 10;
    const left = this.view.x - this.shift().x + 2;
    const most = left + this.view.width - width - 4;
    const x = Math.max(left, Math.min(most, place.x - width / 2));
    const box = { x, y: place.y - 8, width, height: 16, rx: 8 };
    const text = svgElement("text", { x: x + width / 2, y: place.y + 3.5 });
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

  placeAbove(node, edge) {
    const box = this.nodeBox(node, edge);
    return box && { x: box.x + box.width / 2, y: box.y - 6 };
  }

  placeBelow(node) {
    const box = this.nodeBox(node);
    return box && { x: box.x + box.width / 2, y: box.y + box.height + 6 };
  }

  // The cue is put at the edge or node the event speaks of, else at the ctx's own node.
  showCue({ state, event, cue }) {
    const owner = this.story.ctxs[state.cid]?.node;
    const node = event?.n || owner;
    for (const part of this.svg.querySelectorAll(".marked")) part.classList.remove("marked");
    if (!cue || !node) return;
    const box = this.nodeBox(node, event.e);
    if (!box) return;
    this.parts.get(node)?.[0].classList.add("marked");
    const said = event.k === "grad.accumulate" || cue.includes(this.story.nodes[node].label);
    if (said) return; // the badge of .grad, or the node itself, says it already
    const x = box.x + box.width;
    this.badge(cue, "badge cue", { x, y: box.y + box.height + 7 });
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
function shapeBox(part) {
  const shape = part.querySelector("path, polygon, ellipse");
  const numbers = (shape?.getAttribute("d") || shape?.getAttribute("points") || "")
    .match(/-?[\d.]+/g)
    ?.map(Number);
  if (!numbers) return { x: 0, y: 0, width: 0, height: 0 };
  const xs = numbers.filter((_, index) => index % 2 === 0);
  const ys = numbers.filter((_, index) => index % 2 === 1);
  const x = Math.min(...xs);
  const y = Math.min(...ys);
  return { x, y, width: Math.max(...xs) - x, height: Math.max(...ys) - y };
}

function tick(part) {
  const box = shapeBox(part);
  const x = box.x + box.width - 2;
  const mark = svgElement("g", { class: "tick", transform: `translate(${x} ${box.y + 2})` });
  mark.append(svgElement("circle", { r: 7 }), svgElement("path", { d: "M-3 0 L-1 2.5 L3.5 -2.5" }));
  return mark;
}

function passWords(state, count) {
  if (state.pass === "backward") return "backward runs";
  if (state.pass === "over") return "backward is over";
  const seen = Object.keys(state.nodes).length;
  return seen < count ? "faint: still to come" : "";
}

class CtxPane {
  constructor(trace, story) {
    this.trace = trace;
    this.story = story;
    Object.assign(this, pane("ctx", "ctx"));
    this.table = element("dl", "entries");
    this.empty = element("p", "empty");
    this.cue = element("span", "cue");
    this.moving = element("div", "moving");
    this.locals = element("details", "locals");
    this.locals.open = true;
    this.summary = element("summary");
    this.localsTable = element("dl", "entries");
    this.locals.append(this.summary, this.localsTable);
    this.body.append(this.empty, this.table, this.moving, this.locals);
  }

  show({ state, event, changes, cue, level }) {
    const ctx = this.story.ctxs[state.cid];
    const entries = state.ctxs[state.cid];
    this.box.dataset.ctx = entries ? state.cid : "";
    this.note.textContent = ctx ? `${ctx.name} · ${ctx.id}` : "";
    this.title.textContent = ctx ? `ctx of ${ctx.function}` : "ctx";
    this.empty.textContent = this.emptyWords(state, event, entries);
    this.empty.hidden = !this.empty.textContent;
    this.table.replaceChildren();
    const keys = Object.keys(entries || {});
    keys.sort((a, b) => keyRank(a) - keyRank(b) || a.localeCompare(b, "en", { numeric: true }));
    for (const key of keys) {
      const changed = changes.ctx.has(`${state.cid} ${key}`);
      const row = this.addRow(this.table, keyLabel(key), entries[key], changed, cue);
      row.dataset.key = key;
    }
    this.showMoving(event);
    this.showLocals(state, changes, cue, level);
    this.showCue(cue, entries);
    this.showChange();
  }

  // A change below the fold would go unseen.
  showChange() {
    const row = this.body.querySelector(".cued") || this.body.querySelector(".flash");
    if (!row) return;
    const place = row.getBoundingClientRect();
    const pane = this.body.getBoundingClientRect();
    if (place.top < pane.top) this.body.scrollTop -= pane.top - place.top + 8;
    if (place.bottom > pane.bottom) this.body.scrollTop += place.bottom - pane.bottom + 8;
  }

  // Where no entry is meant, the cue is the gradient on its way or the ctx itself.
  showCue(cue, entries) {
    this.cue.hidden = !cue || this.body.querySelector(".cued") !== null;
    this.cue.textContent = cue || "";
    if (!this.moving.hidden) this.moving.querySelector("h4").append(this.cue);
    else if (entries) this.title.after(this.cue);
    else this.cue.hidden = true;
  }

  emptyWords(state, event, entries) {
    if (entries) {
      const saved = Object.keys(entries).some((key) => key.startsWith("saved."));
      return saved ? "" : "Nothing saved so far.";
    }
    if (state.cid) return "Nothing is recorded of this ctx.";
    const node = this.story.nodes[event?.n];
    if (node?.kind === "accumulate") {
      return `AccumulateGrad has no ctx: it only adds into ${node.tensor || "its tensor"}.grad.`;
    }
    if (!Object.keys(state.ctxs).length) return "No ctx yet: apply has not created it.";
    return "No ctx is at work here.";
  }

  addRow(table, label, ref, changed, cue) {
    const row = element("div", changed ? "row flash" : "row");
    const name = element("dt", "", label);
    const value = element("dd");
    value.append(valueView(this.trace, ref, label));
    if (cue === label) row.classList.add("cued");
    row.append(name, value);
    table.append(row);
    return row;
  }

  showMoving(event) {
    this.moving.replaceChildren();
    const add = (words, ref) => {
      this.moving.append(element("h4", "", words), valueView(this.trace, ref));
    };
    if (event?.k === "grad") {
      add("the gradient on the edge", event.g);
      const sum = event.total && event.total.v !== event.g?.v;
      if (sum) add("together with what waited there", event.total);
    } else if (event?.k === "node.enter") {
      (event.g || []).forEach((gradient, slot) => {
        const which = event.g.length > 1 ? ` of output ${slot}` : "";
        if (gradient) add(`the gradient that waited here${which}`, gradient);
      });
    } else if (event?.k === "grad.accumulate") {
      const tensor = this.story.nodes[event.n]?.tensor || "tensor";
      if (event.old) add(`${tensor}.grad before`, event.old);
      add(`${tensor}.grad now`, event.new);
    }
    this.moving.hidden = !this.moving.childElementCount;
  }

  // The engine's own variables are shown only to those who follow the engine's lines.
  showLocals(state, changes, cue, level) {
    const frame = state.stack.at(-1);
    const engine = frame && this.story.isEngine(frame.s);
    const names = engine && level < 3 ? [] : Object.keys(frame?.locals || {});
    this.locals.hidden = !names.length;
    this.localsTable.replaceChildren();
    if (!names.length) return;
    this.summary.textContent = `locals of ${this.trace.sources[frame.s].name}`;
    for (const name of names) {
      const changed = changes.locals.has(name);
      this.addRow(this.localsTable, name, frame.locals[name], changed, cue);
    }
  }
}

class PhaseStrip {
  constructor() {
    this.box = element("div", "phases");
    this.box.setAttribute("aria-hidden", "true"); // the sentence says it in words
    this.shown = null;
  }

  show({ state }) {
    const phase = state.phases.at(-1);
    const of = phase && PHASES[phase.of] ? phase.of : null;
    if (of !== this.shown) this.lay(of);
    const now = of ? PHASES[of].indexOf(phase.name) : -1;
    [...this.box.querySelectorAll(".phase")].forEach((one, index) => {
      one.classList.toggle("now", index === now);
      one.classList.toggle("past", index < now);
    });
  }

  lay(of) {
    this.shown = of;
    this.box.replaceChildren();
    if (!of) return;
    this.box.append(element("b", "", of));
    PHASES[of].forEach((name, index) => {
      const one = element("span", "phase");
      one.append(element("i", "", String(index + 1)), element("span", "", name));
      this.box.append(one);
    });
  }
}

// ------------------------------------------------------------- 4. the player

const ICONS = {
  first: "M3 3h2v10H3zM13 3v10L6 8z",
  last: "M3 3v10l7-5zM11 3h2v10h-2z",
  play: "M4 2v12l10-6z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
};

const HELP_KEYS = [
  ["→", "step"],
  ["←", "step back"],
  ["o", "step over: skip what this line calls"],
  ["u", "step out: go on to the caller"],
  ["Home, End", "first, last"],
  ["Space", "play, pause"],
  ["?", "this help"],
  ["Esc", "close the help, leave the player"],
];

const HELP_MARKS = [
  ["mark line-mark", "the line that comes next; a weaker mark: the lines that called it"],
  ["mark cue-mark", "the same thing, in the code, in the graph and in ctx"],
  ["mark flash-mark", "has changed since the last step"],
  ["mark active-mark", "the node whose backward runs now"],
  ["mark done-mark", "a node that is done (with a tick)"],
  ["mark gradient-mark", "a gradient; 5 = 2 + 3 is a sum of gradients that met"],
];

export class Player {
  constructor(root, trace, options = {}) {
    this.root = root;
    this.trace = trace;
    this.story = new Story(trace);
    this.options = options;
    this.level = options.level || 2;
    this.speed = 1;
    this.position = -1;
    this.stops = this.story.stopsAt(this.level);
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
    this.build();
    this.go(options.position || 0);
  }

  build() {
    const root = this.root;
    root.classList.add("mg-player");
    root.tabIndex = 0;
    root.dataset.lmSuppressShortcuts = "true";
    root.setAttribute("role", "group");
    root.setAttribute("aria-label", `Step player: ${this.trace.meta.title || "recording"}`);
    this.say = element("p", "say");
    this.say.setAttribute("aria-live", "polite");
    this.phases = new PhaseStrip();
    this.code = new CodePane(this.trace);
    this.graph = new GraphPane(this.trace, this.story);
    this.ctx = new CtxPane(this.trace, this.story);
    const panes = element("div", "panes");
    panes.append(this.code.box, this.graph.box, this.ctx.box);
    this.help = this.buildHelp();
    root.replaceChildren(this.buildBar(), this.say, this.phases.box, panes, this.help);
    root.addEventListener("keydown", (event) => this.onKey(event));
  }

  buildBar() {
    const bar = element("div", "bar");
    const first = iconButton("first", "First step", "Home", () => this.go(0));
    const back = textButton("Back", "Step back", "←", () => this.back());
    const step = textButton("Step", "Step", "→", () => this.step());
    const over = textButton("Over", "Step over", "o", () => this.over());
    const out = textButton("Out", "Step out", "u", () => this.out());
    const last = iconButton("last", "Last step", "End", () => this.go(this.stops.at(-1)));
    step.classList.add("primary");
    this.playButton = iconButton("play", "Play", "Space", () => this.toggle());
    this.backward = [first, back];
    this.forward = [step, over, out, last];
    this.slider = element("input", "slider");
    this.slider.type = "range";
    this.slider.min = "0";
    this.slider.setAttribute("aria-label", "Step");
    this.slider.oninput = () => this.go(this.stops[Number(this.slider.value)]);
    this.count = element("span", "count");
    const speeds = SPEEDS.map((speed) => [speed, `${speed}×`]);
    const speed = choice("Speed", speeds, this.speed, (value) => (this.speed = value));
    const levels = Object.entries(LEVELS);
    this.levels = choice("Detail", levels, this.level, (value) => this.setLevel(value));
    const help = textButton("?", "Help", "?", () => this.toggleHelp());
    const scrub = element("div", "scrub");
    scrub.append(this.slider, this.count);
    const ways = element("div", "ways");
    ways.append(first, back, step, over, out, last, this.playButton);
    const settings = element("div", "settings");
    settings.append(speed, this.levels, help);
    bar.append(ways, scrub, settings);
    return bar;
  }

  buildHelp() {
    const help = element("div", "help");
    help.hidden = true;
    help.setAttribute("role", "dialog");
    help.setAttribute("aria-label", "Help");
    const sheet = element("div", "sheet");
    const close = textButton("Close", "Close help", "Esc", () => this.toggleHelp());
    const keys = element("dl", "keys");
    for (const [key, words] of HELP_KEYS) {
      keys.append(element("dt", "", key), element("dd", "", words));
    }
    const marks = element("dl", "marks");
    for (const [className, words] of HELP_MARKS) {
      const sample = element("dt");
      sample.append(element("span", className));
      marks.append(sample, element("dd", "", words));
    }
    sheet.append(element("h4", "", "Keys"), keys, element("h4", "", "Marks"), marks, close);
    help.append(sheet);
    help.onclick = (event) => event.target === help && this.toggleHelp();
    return help;
  }

  // Moves

  go(position) {
    const to = Math.max(0, Math.min(this.story.length, Math.round(position)));
    if (to === this.position) return;
    const stop = lastIndexAtMost(this.stops, to);
    const single = to > this.position && this.stops[stop - 1] === this.position;
    this.position = to;
    const since = to === this.stops[stop] ? this.stops[stop - 1] ?? 0 : this.stops[stop];
    const event = this.story.events[to - 1] || null;
    const view = {
      position: to,
      trace: this.trace,
      state: this.story.stateAt(to),
      event,
      cue: cueOf(event),
      level: this.level,
      changes: this.story.changes(since, to),
      animate: single && !this.still.matches,
      duration: 550 / this.speed,
    };
    this.showWords(view, stop);
    for (const part of [this.phases, this.code, this.graph, this.ctx]) part.show(view);
    this.options.onMove?.(to);
  }

  showWords({ state, event }, stop) {
    this.say.textContent = event ? event.say : this.trace.meta.title || "A recording";
    this.root.classList.toggle("failed", Boolean(state.error));
    this.root.classList.toggle("at-start", !event);
    const last = this.stops.length - 1;
    this.slider.max = String(last);
    this.slider.value = String(stop);
    this.slider.setAttribute("aria-valuetext", `step ${stop} of ${last}`);
    this.count.textContent = `${stop} / ${last}`;
    for (const button of this.backward) button.disabled = this.position === 0;
    for (const button of this.forward) button.disabled = this.position >= this.stops[last];
  }

  step() {
    const next = this.stops.find((stop) => stop > this.position);
    if (next !== undefined) this.go(next);
    return next !== undefined;
  }

  back() {
    const before = this.stops.findLast((stop) => stop < this.position);
    if (before !== undefined) this.go(before);
  }

  over() {
    this.leap((depth, here) => depth <= here);
  }

  out() {
    this.leap((depth, here) => depth < here);
  }

  // To the next stop whose depth is wanted; to the last one if there is none.
  leap(wanted) {
    const here = this.story.events[this.position - 1]?.d ?? 0;
    const later = this.stops.filter((stop) => stop > this.position);
    const next = later.find((stop) => wanted(this.story.events[stop - 1].d, here));
    const target = next ?? later.at(-1);
    if (target !== undefined) this.go(target);
  }

  setLevel(level) {
    this.level = Number(level);
    this.levels.querySelector("select").value = String(this.level);
    this.stops = this.story.stopsAt(this.level);
    const nearest = this.stops[lastIndexAtMost(this.stops, this.position)];
    this.position = -1;
    this.go(nearest);
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  play() {
    if (this.position >= this.stops.at(-1)) this.go(0);
    this.playing = true;
    setIcon(this.playButton, "pause", "Pause");
    const beat = () => {
      if (!this.step() || this.position >= this.stops.at(-1)) this.pause();
      else this.timer = setTimeout(beat, 1400 / this.speed);
    };
    beat();
  }

  pause() {
    this.playing = false;
    clearTimeout(this.timer);
    setIcon(this.playButton, "play", "Play");
  }

  toggleHelp() {
    this.help.hidden = !this.help.hidden;
    if (this.help.hidden) this.root.focus({ preventScroll: true });
    else this.help.querySelector("button").focus({ preventScroll: true });
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const tag = event.target.tagName;
    if (tag === "SELECT" && event.key !== "Escape") return;
    if (event.key === " " && (tag === "BUTTON" || tag === "SUMMARY")) return;
    const moves = {
      ArrowRight: () => this.step(),
      ArrowLeft: () => this.back(),
      Home: () => this.go(0),
      End: () => this.go(this.stops.at(-1)),
      " ": () => this.toggle(),
      o: () => this.over(),
      u: () => this.out(),
      "?": () => this.toggleHelp(),
      Escape: () => this.escape(),
    };
    const move = moves[event.key];
    if (!move) return;
    if (this.playing && event.key !== " ") this.pause();
    move();
    event.preventDefault();
    event.stopPropagation();
  }

  escape() {
    if (!this.help.hidden) return this.toggleHelp();
    document.activeElement?.blur();
    if (parent === window) return;
    parent.focus();
    // Back where the keys of a notebook work; null in a page of another origin.
    window.frameElement?.closest(".jp-Notebook-cell")?.focus();
  }

  // What is on the screen, read from the screen: for tests.
  state() {
    const states = (records) => {
      const shown = records.map(({ id }) => [id, this.graph.parts.get(id)?.[0].dataset.state]);
      return Object.fromEntries(shown.filter(([, now]) => now && now !== "unseen"));
    };
    const rows = [...this.ctx.table.querySelectorAll("[data-key]")];
    const entries = rows.map((row) => [row.dataset.key, shownText(row.querySelector("dd"))]);
    return {
      position: this.position,
      say: this.say.textContent,
      nodes: states(this.trace.graph.nodes),
      edges: states(this.trace.graph.edges),
      ctx: { id: this.ctx.box.dataset.ctx || null, entries: Object.fromEntries(entries) },
    };
  }
}

function shownText(node) {
  const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
  const words = [];
  while (walker.nextNode()) words.push(walker.currentNode.data);
  return words.join(" ");
}

function lastIndexAtMost(sorted, value) {
  return sorted.findLastIndex((one) => one <= value);
}

function iconButton(icon, label, key, action) {
  const button = textButton("", label, key, action);
  button.classList.add("icon");
  setIcon(button, icon, label);
  return button;
}

function setIcon(button, icon, label) {
  const svg = svgElement("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" });
  svg.append(svgElement("path", { d: ICONS[icon] }));
  button.replaceChildren(svg);
  button.setAttribute("aria-label", label);
}

function textButton(text, label, key, action) {
  const button = element("button", "", text);
  button.type = "button";
  button.title = `${label} (${key})`;
  button.setAttribute("aria-label", label);
  button.onclick = action;
  return button;
}

function choice(label, pairs, chosen, action) {
  const box = element("label", "choice");
  const select = element("select");
  select.setAttribute("aria-label", label);
  for (const [value, words] of pairs) {
    const option = element("option", "", words);
    option.value = String(value);
    option.selected = String(value) === String(chosen);
    select.append(option);
  }
  select.onchange = () => action(Number(select.value));
  box.append(select);
  return box;
}

// The page around the player

export function mount(root, trace, options) {
  root.player = new Player(root, trace, options);
  return root.player;
}

// Starts the player of a page written by minigrad.views.page.
export async function start() {
  followTheme();
  const root = document.getElementById("player");
  const trace = await readTrace(document.getElementById("trace"));
  const memory = `minigrad player ${root.dataset.key}`;
  const position = Number(recall(memory)) || 0;
  mount(root, trace, { position, onMove: (at) => remember(memory, at) });
  fitFrame(root);
}

async function readTrace(script) {
  if (script.type === "application/json") return JSON.parse(script.textContent);
  const packed = Uint8Array.from(atob(script.textContent.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

// Storage may be forbidden (a sandboxed frame): then the position is not remembered.
function recall(key) {
  try {
    return sessionStorage.getItem(key);
  } catch {
    return null;
  }
}

function remember(key, value) {
  try {
    sessionStorage.setItem(key, String(value));
  } catch {
    // not remembered
  }
}

// Dark or light: as the notebook around says, else as the system prefers.
function followTheme() {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const outer = outerBody();
  const apply = () => {
    const light = outer?.dataset.jpThemeLight;
    const dark = light === undefined ? system.matches : light === "false";
    document.documentElement.classList.toggle("dark", dark);
  };
  apply();
  system.addEventListener("change", apply);
  if (outer) {
    const options = { attributes: true, attributeFilter: ["data-jp-theme-light"] };
    new MutationObserver(apply).observe(outer, options);
  }
}

function outerBody() {
  try {
    return parent === window ? null : parent.document.body;
  } catch {
    return null; // a frame from elsewhere
  }
}

// In a notebook the frame is as high as the player.
function fitFrame(root) {
  let frame = null;
  try {
    frame = window.frameElement;
  } catch {
    return;
  }
  if (!frame) return;
  document.documentElement.classList.add("framed");
  const fit = () => {
    const height = `${Math.ceil(root.getBoundingClientRect().height) + 8}px`;
    frame.style.height = height;
    if (frame.parentElement?.dataset.minigradPlayer !== undefined) {
      frame.parentElement.style.height = height;
    }
  };
  new ResizeObserver(fit).observe(root);
  fit();
}

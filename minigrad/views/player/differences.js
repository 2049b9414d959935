// What of an edited run is another than in the run it was made from.

import { Agreement } from "./successor.js";

/** @typedef {import("./story.js").Story} Story */
/** @typedef {import("./types").Part} Part */
/** @typedef {import("./types").State} State */
/** @typedef {import("./types").Trace} Trace */
/** @typedef {import("./types").View} View */

// One of the two runs, and what it shows at a place: "value n3 0", "entry c0 saved.0".
class Side {
  /** @param {Story} story */
  constructor(story) {
    this.story = story;
    const parts = (story.trace.graph.pictures || []).flatMap((one) => one.parts);
    /** @type {Record<string, Part>} */
    this.parts = Object.fromEntries(parts.map((part) => [part.id, part]));
  }

  /** @param {string} place @param {State} state */
  shown(place, state) {
    const [kind, id, key] = place.split(" ");
    const { values } = this.story.trace;
    /** @param {string} name @param {any} item */
    const inFull = (name, item) => (name === "v" && values[item]) || item;
    return JSON.stringify(this.refs(kind, id, key, state), inFull);
  }

  /** @param {string} kind @param {string} id @param {string} key @param {State} state */
  refs(kind, id, key, state) {
    const part = this.parts[id];
    const waiting = Object.values(state.waiting[id] || {}).map(({ parts, total }) => [parts, total]);
    if (kind === "value") return part?.k === "call" ? part.v[Number(key)] : state.changed[part?.t]?.ref || part?.v;
    if (kind === "grad") return state.grads[id] || waiting;
    if (kind === "waits") return [waiting, state.added[id], state.tangents[id]];
    if (kind === "entry") return state.ctxs[id]?.[key];
    return kind === "edge" ? state.sent[id] : state.slopes[id];
  }
}

// What shows a value: the line of an edge and the card of a call don't.
export const SHOWN = "[data-place]:not(.edge, .op)";

export class Differences {
  /** @param {Story} was @param {Story} now */
  constructor(was, now) {
    this.was = new Side(was);
    this.now = new Side(now);
    const told = now.events.filter(({ k }) => k !== "what.if");
    this.agreement = new Agreement(told, was.events);
  }

  /**
   * At each place of the page: what differs, and what was edited.
   * @param {HTMLElement} root @param {View} view
   */
  mark(root, { position, state }) {
    const { was, now, agreement } = this;
    const before = now.story.events.slice(0, position).filter(({ k }) => k !== "what.if").length;
    const past = was.story.stateAt(agreement.at(before));
    for (const shape of root.querySelectorAll(SHOWN)) {
      const { place } = shape.dataset;
      shape.classList.toggle("differs", was.shown(place, past) !== now.shown(place, state));
    }
  }
}

/**
 * The places where the page shows what was edited.
 * @param {Trace} trace @returns {Set<string>}
 */
export function editedPlaces({ meta, events, graph }) {
  const found = new Set();
  for (const { place } of meta.edits || []) {
    const [kind, id, key] = place.split(" ");
    found.add(kind === "waits" ? `waits ${id}` : place);
    if (kind === "waits" && key === "0") found.add(`grad ${id}`);
    if (kind !== "leaf") continue;
    const ends = events.flatMap(({ ins = [] }) => ins).filter(({ t }) => t === id);
    const nodes = new Set(ends.map(({ leaf }) => leaf));
    for (const part of (graph.pictures || []).flatMap(({ parts }) => parts)) {
      if (part.k === "leaf" ? nodes.has(part.n) : keyOfData(part) === id) found.add(`value ${part.id} 0`);
    }
  }
  return found;
}

/**
 * The key of the tensor that a part is, which no call has made.
 * @param {Part} part
 */
export function keyOfData({ k, id }) {
  return k === "data" ? id.split(".data").at(-1) : "";
}

// The story: events folded into what is shown at a position.
//
// A position is a number of events: at position i the first i events have happened.
//
// What a recording has, in short (minigrad.tracing.trace names the least of it):
// * values, by their keys: shape, dtype, min, max, how many are nan and inf; rows, which are
//   its corner where it is cut, with a word or null for a number that is not finite.
// * A ref leads to one: t is A for an array, T a tensor, S a saved one, P plain text (r) and L
//   several (i); v is the key, ver the version (now, today's), fn the node that made it, ax
//   the dimensions that count the examples of a vmap.
// * An event: k its kind, lvl the first level that stops there (0 Picture, 1 Phases, 2 the
//   learner's lines, 3 the engine's), say and why its sentences, s and l source and line, d how
//   deep; n a node, e an edge, slot, g a gradient, ctx and others what ctxs are set to, mem
//   what is held and let go, call a call that joins no graph.
// * A call has ins and outs: name, v its ref, t one key for one tensor, needs its gradient, n
//   the node it comes from or leaf that of its .grad; what is no tensor has only text.
// * graph.pictures: parts and lines, as minigrad.views.picture places them; a spot is
//   [left, top, width, height].

import { advance, blankState, copyOf, ctxChanges } from "./folding.js";
import { message, wordFor } from "./messages.js";

const KEYFRAME_EVERY = 64; // more in a long recording: it has at most
const MOST_KEYFRAMES = 50;
const PIECE = 1000; // events to fold at a time
const MOST_BACK = 1000; // events to look back for a node

export class Story {
  constructor(trace) {
    this.trace = trace;
    this.events = trace.events;
    this.length = trace.events.length;
    const said = sentencesOfLines(trace);
    for (const event of this.events) event.say ??= said(event);
    this.nodes = byId(trace.graph.nodes);
    this.edges = byId(trace.graph.edges);
    this.ctxs = byId(trace.ctxs || []);
    this.every = Math.max(KEYFRAME_EVERY, Math.ceil(this.length / MOST_KEYFRAMES));
    this.keyframes = [blankState()];
    this.before = { state: blankState(), at: 0 };
    this.prepare();
  }

  // The recording is folded piece by piece, while there is nothing else to do.
  prepare(ahead = { state: blankState(), at: 0 }) {
    if (this.keyframes.length * this.every > this.length) return;
    const end = Math.min(this.length, ahead.at + Math.max(PIECE, this.every));
    whenIdle(() => this.prepare(this.fold(ahead, end)));
  }

  // Leaves keyframes on the way.
  fold({ state, at }, position) {
    while (at < position) {
      advance(state, this.events[at], this);
      at += 1;
      if (at === this.keyframes.length * this.every) this.keyframes.push(copyOf(state));
    }
    return { state, at };
  }

  // A step forward goes on from the state before; any other move from a keyframe.
  stateAt(position) {
    const keyframe = Math.min(Math.floor(position / this.every), this.keyframes.length - 1);
    const at = keyframe * this.every;
    const isNear = at <= this.before.at && this.before.at <= position;
    this.before = this.fold(isNear ? this.before : { state: copyOf(this.keyframes[keyframe]), at }, position);
    return this.before.state;
  }

  stopsAt(level) {
    return [0, ...this.events.flatMap(({ lvl }, index) => (lvl <= level ? [index + 1] : []))];
  }

  // The last event up to a position that speaks of a node.
  lastAtNode(position) {
    return this.events.slice(Math.max(0, position - MOST_BACK), position).findLast(({ n }) => n) || null;
  }

  // What the events after position `from` up to `to` set: ctx entries and locals.
  changes(from, to) {
    const ctx = new Set();
    const locals = new Set();
    for (const event of this.events.slice(from, to)) {
      for (const { id, set } of ctxChanges(event)) for (const key in set) ctx.add(`${id} ${key}`);
      for (const name in event.loc || {}) locals.add(name);
    }
    return { ctx, locals };
  }

  isEngine(source) {
    return this.trace.sources[source]?.role === "engine";
  }
}

// The same words as minigrad.tracing.picture_words.line_next, which a page goes without;
// of a line that runs often they are made once.
function sentencesOfLines({ sources }) {
  const made = sources.map(() => []);
  return ({ s, l }) => (made[s][l] ??= sentenceOfLine(sources[s], l));
}

function sentenceOfLine(source, line) {
  const text = textOfLine(source, line);
  const fields = { function: wordFor(source.name), number: source.first + line, text };
  return message(text ? "line.next.text" : "line.next", fields);
}

export function textOfLine({ tokens }, line) {
  return (tokens[line] || []).map(([, part]) => part).join("").trim();
}

export function whenIdle(task) {
  (window.requestIdleCallback || setTimeout)(task);
}

// The last place in a sorted list whose item, or what `of` takes of it, is not above a
// value; -1 if all are.
export function lastAtMost(sorted, value, of = Number) {
  let [low, high] = [-1, sorted.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (of(sorted[middle]) <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

export function byId(records) {
  const found = Object.create(null); // in which a thousand names are soon put and found
  for (const record of records) found[record.id] = record;
  return found;
}

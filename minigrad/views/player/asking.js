// What is known of a gradient: which sum it is, and of which terms. The same as
// minigrad.views.numbers works out in Python.

import { message } from "./messages.js";
import { brief, elementIndex, labelOf, number } from "./values.js";

const MOST_TERMS = 12; // written out; the rest is added up
const PRECISE = 2e-5; // the numbers of a recording have six digits
const MOVES = ["grad", "grad.none", "grad.zeros", "grad.accumulate", "hook.tensor", "hook.pre"];

export class Asking {
  constructor(story, node, slot, position) {
    this.story = story;
    this.trace = story.trace;
    this.node = node;
    this.slot = slot;
    this.position = position;
    this.moves = this.movesHere();
    const past = this.moves.filter((move) => move.at <= position);
    this.arrived = past.filter((move) => move.k === "root" || move.k === "grad");
    this.none = past.filter((move) => move.k === "grad.none");
    this.others = past.filter((move) => !this.arrived.includes(move) && !this.none.includes(move));
    this.awaited = this.moves.filter((move) => move.at > position && move.k.startsWith("grad") && move.e);
    const last = this.arrived.at(-1);
    this.total = last?.total || last?.g;
  }

  // In the backward that runs, or that ran last; one may be inside another. An error has
  // ended those that the next one is not inside of.
  movesHere() {
    const [begun, running] = [[], []];
    for (const [index, event] of this.trace.events.entries()) {
      const at = index + 1;
      if (event.k === "backward.begin") {
        for (const failed of running.splice(event.inside || 0)) failed.end = at;
        const moves = (event.roots || []).map((root) => ({ at, k: "root", ...root }));
        running.push({ end: Infinity, moves: moves.filter((move) => this.isHere(move)) });
        if (at <= this.position) begun.push(running.at(-1));
      }
      if (!running.length) continue;
      if (event.k === "backward.end") running.pop().end = at;
      if (MOVES.includes(event.k) && this.isHere(event)) running.at(-1).moves.push({ ...event, at });
    }
    const here = begun.filter(({ moves }) => moves.length);
    const last = here.reduce((one, other) => (other.end > one.end ? other : one), { end: 0, moves: [] });
    return (here.findLast(({ end }) => end > this.position) || last).moves;
  }

  isHere(move) {
    if (move.n !== this.node) return false;
    const edge = this.story.edges[move.e];
    if (edge) return edge.to_slot === this.slot;
    return (move.slot ?? this.slot) === this.slot;
  }

  place() {
    const node = this.story.nodes[this.node];
    if ((node.outputs || 1) < 2) return labelOf(node);
    return message("number.output", { node: labelOf(node), slot: this.slot });
  }

  cellOf(chosen) {
    const value = this.trace.values[this.total?.v];
    if (!value) return null;
    const { rows, cut } = value;
    if (chosen) return chosen[0] < rows.length && chosen[1] < rows[0].length ? chosen : null;
    return rows.length === 1 && rows[0].length === 1 && !cut ? [0, 0] : null;
  }

  sentence(chosen) {
    const cell = this.cellOf(chosen);
    const value = this.trace.values[this.total?.v];
    const place = this.place() + (cell && chosen ? elementIndex(value, cell) : "");
    const { arrived, none } = this;
    if (!arrived.length && !none.length && !this.awaited.length) {
      return message("number.none", { place });
    }
    const said = [];
    const names = this.sourcesOf(this.awaited);
    if (arrived.length) {
      const key = names ? "number.until-now" : "number.arrived";
      said.push(message(key, { place, sum: this.sum(cell) }));
    } else {
      said.push(message("number.nothing", { place }));
    }
    if (names) said.push(message("number.awaited", { names }));
    if (none.length) said.push(message("number.no-part", { names: this.sourcesOf(none) }));
    for (const move of this.others) said.push(...this.happened(move, cell));
    return said.join(" ");
  }

  sum(cell) {
    const total = this.text(this.total, cell);
    const { arrived } = this;
    if (arrived.length === 1) {
      return message("number.alone", { value: total, source: this.source(arrived[0]) });
    }
    const parts = arrived
      .map((move, index) => {
        const value = asAddend(this.text(move.g, cell), index);
        return message("number.from", { value, source: this.source(move) });
      })
      .join(" + ");
    const exact = !cell || addsUp(arrived.map((move) => this.at(move.g, cell)), this.at(this.total, cell));
    return message(exact ? "number.equals" : "number.about", { total, parts });
  }

  // What came after the sum: a hook, or the addition to .grad.
  happened(move, cell) {
    if (move.k.startsWith("hook.")) {
      const changed = move.k === "hook.pre" ? move.new?.i[this.slot] : move.new;
      return changed ? [message("number.hook", { value: this.text(changed, cell) })] : [];
    }
    if (move.k !== "grad.accumulate") return [];
    const tensor = this.story.nodes[this.node].tensor || message("tensor.unnamed");
    const before = this.story.stateAt(move.at - 1).grads[this.node];
    const now = this.text(move.new, cell);
    if (before) return [message("number.grad", { tensor, old: this.text(before, cell), new: now })];
    const first = move.g.v === move.new.v;
    return [message(first ? "number.grad.first" : "number.grad.unknown", { tensor, new: now })];
  }

  // Who sent a gradient; with the argument, if the node sent more than one.
  source(move) {
    const edge = this.story.edges[move.e];
    if (!edge) return message("number.root");
    const node = labelOf(this.story.nodes[edge.from]);
    const same = this.moves.filter((one) => this.story.edges[one.e]?.from === edge.from);
    if (same.length < 2) return node;
    return message("number.argument", { node, slot: edge.slot });
  }

  sourcesOf(moves) {
    return moves.map((move) => this.source(move)).join(", ");
  }

  addends(chosen) {
    const cell = this.cellOf(chosen);
    return this.arrived.map((move) => {
      const edge = this.story.edges[move.e];
      return {
        source: this.source(move),
        text: this.text(move.g, cell),
        edge: edge?.id,
        node: edge?.from,
        ...(edge && this.termsOf(edge, move, cell)),
      };
    });
  }

  // The terms of an addend in words, and where each of them came from.
  termsOf(edge, move, cell) {
    const turns = this.trace.events.slice(0, move.at);
    const turn = turns.findLast((event) => event.k === "node.enter" && event.n === edge.from);
    const slopes = turn?.terms?.[edge.slot];
    if (!cell) return { said: message("number.choose") };
    const theirs = this.trace.meta.engines?.includes("torch");
    if (slopes === undefined) return { said: message(theirs ? "number.theirs" : "number.unkept") };
    if (typeof slopes === "string") return { said: message("number.reason", { reason: slopes }) };
    const terms = this.terms(turn, slopes, move.g, cell);
    const given = turn.g.filter(Boolean).map((ref) => this.trace.values[ref.v].rows.flat().length);
    const count = given.reduce((all, one) => all + one, 0);
    const said = saidOf(this.at(move.g, cell), terms, count - terms.length);
    return { said, places: terms.slice(0, MOST_TERMS) };
  }

  // `slopes` has four numbers for each: element, output, element of that, slope.
  terms(turn, slopes, ref, cell) {
    const columns = this.trace.values[ref.v].shape.at(-1) ?? 1;
    const asked = cell[0] * columns + cell[1];
    const found = [];
    for (let at = 0; at < slopes.length; at += 4) {
      const [one, output, other, slope] = slopes.slice(at, at + 4);
      if (one !== asked) continue;
      const value = this.trace.values[turn.g[output].v];
      const width = value.shape.at(-1) ?? 1;
      const place = [Math.floor(other / width), other % width];
      const arrived = value.rows[place[0]][place[1]];
      if (arrived === 0) continue;
      const index = elementIndex(value, place);
      const several = turn.g.length > 1;
      const where = several ? message("number.of-output", { slot: output, place: index }).trimEnd() : index;
      found.push({ arrived, slope, where, value: arrived * slope });
    }
    return found;
  }

  // A number; a word or null where it is not finite.
  at(ref, cell) {
    return this.trace.values[ref.v].rows[cell[0]][cell[1]];
  }

  text(ref, cell) {
    return cell && ref.v ? number(this.at(ref, cell)) : brief(this.trace, ref);
  }
}

function saidOf(value, terms, zeros) {
  const total = number(value);
  if (!terms.length) return message("number.all-zero", { value: total, count: zeros });
  const shown = terms.slice(0, MOST_TERMS);
  const rest = terms.slice(MOST_TERMS);
  const parts = shown
    .map(({ arrived, slope }, index) => `${asAddend(number(arrived), index)}·${asAddend(number(slope), 1)}`)
    .join(" + ");
  const factors = terms.flatMap(({ arrived, slope }) => [arrived, slope]);
  const exact = addsUp(terms.map((term) => term.value), value) && factors.every(isShort);
  const said = [message(exact ? "number.equals" : "number.about", { total, parts })];
  if (rest.length) {
    const more = rest.reduce((sum, term) => sum + term.value, 0);
    const fields = { count: rest.length, value: number(Number(more.toPrecision(6))) };
    said.push(message("number.more", fields));
  }
  if (zeros) said.push(message("number.zeros", { count: zeros }));
  return said.join(", ");
}

// A number behind a sign; a negative one in brackets.
function asAddend(text, index) {
  return index && text.startsWith("-") ? `(${text})` : text;
}

// Whether a number is shown with all of its digits.
function isShort(x) {
  return typeof x === "number" && Number(number(x)) === x;
}

// Whether numbers as they are shown make their sum; else they are rounded.
function addsUp(parts, total) {
  if (![...parts, total].every((x) => typeof x === "number")) return false;
  const size = parts.reduce((sum, x) => sum + Math.abs(x), 0);
  const sum = parts.reduce((all, x) => all + x, 0);
  const shown = isShort(total) && parts.every((x) => isShort(Number(x.toPrecision(6))));
  return shown && Math.abs(sum - total) <= PRECISE * size;
}

// Lines of the picture: values go along them to a card, gradients back to a box or a slot.

import { setText, svgElement } from "./dom.js";
import { isWritten, setKinds, valueOf } from "./scene.js";
import { brief, shortened } from "./values.js";
import { message } from "./messages.js";

const TAG_LETTER = 8.1; // of 13 points, bold
const HIGH = 22;
const MOST = 16; // letters of a label

// What stands at a wire while a gradient goes along it: "× 5 (w)".
const slopeWords = (slope) => message(slope.of ? "wire.slope.of" : "wire.slope", { number: slope.x, name: slope.of });

// The longest labels that a wire will ever have.
function lettersOf(trace) {
  const found = {};
  for (const event of trace.events) {
    if (event.k !== "grad" || !event.e) continue;
    const known = (found[event.e] ||= { slope: 0, grad: 0 });
    if (event.slope) known.slope = Math.min(MOST, Math.max(known.slope, slopeWords(event.slope).length));
    const words = gradWords(trace, event.g);
    known.grad = Math.max(known.grad, words.length);
  }
  return found;
}

const gradWords = (trace, ref) => (isWritten(valueOf(trace, ref)) ? shortened(brief(trace, ref), MOST) : "");

// Points of a path: spots without a size, each with how far it is from the beginning.
export function pointsOf(d) {
  const found = [];
  let far = 0;
  const add = (x, y) => {
    const last = found.at(-1);
    if (last) far += Math.hypot(x - last[0], y - last[1]);
    found.push([x, y, 0, 0, far]);
  };
  for (const [, kind, rest] of d.matchAll(/([MLC])([^MLC]*)/g)) {
    const at = rest.trim().split(/[ ,]+/).map(Number);
    if (kind !== "C") {
      add(at[0], at[1]);
      continue;
    }
    for (let i = 0; i + 5 < at.length; i += 6) {
      const [x0, y0] = found.at(-1);
      for (let t = 0.125; t <= 1; t += 0.125) {
        const [a, b, c, e] = [(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t ** 3];
        add(a * x0 + b * at[i] + c * at[i + 2] + e * at[i + 4], a * y0 + b * at[i + 1] + c * at[i + 3] + e * at[i + 5]);
      }
    }
  }
  return found;
}

export const curvesOf = ({ lines }) => new Map(lines.map((line) => [line, pointsOf(line.d)]));

function pointAt(points, share) {
  const far = points.at(-1)[4] * share;
  const next = points.find((point) => point[4] >= far) || points.at(-1);
  const before = points[Math.max(0, points.indexOf(next) - 1)];
  const part = next[4] > before[4] ? (far - before[4]) / (next[4] - before[4]) : 0;
  return [before[0] + (next[0] - before[0]) * part, before[1] + (next[1] - before[1]) * part];
}

const CELL = 200;
const COLUMN = 1e6; // squares: no picture is so high

// Which spots are taken, in squares, so that few have to be looked at.
class Room {
  constructor() {
    this.squares = new Map();
  }

  *squaresOf([x, y, w, h]) {
    for (let i = Math.floor(x / CELL); i <= Math.floor((x + w) / CELL); i++) {
      for (let j = Math.floor(y / CELL); j <= Math.floor((y + h) / CELL); j++) yield i * COLUMN + j;
    }
  }

  take(spot) {
    for (const name of this.squaresOf(spot)) {
      const there = this.squares.get(name);
      if (there) there.push(spot);
      else this.squares.set(name, [spot]);
    }
  }

  isFree(spot) {
    const [x, y, w, h] = spot;
    for (const name of this.squaresOf(spot)) {
      for (const [left, top, wide, tall] of this.squares.get(name) || []) {
        if (x < left + wide + 2 && left < x + w + 2 && y < top + tall + 2 && top < y + h + 2) return false;
      }
    }
    return true;
  }
}

export function spotsOf({ chip, slot, card, box, chips = [] }) {
  return [chip, slot, card, box, ...chips].filter(Boolean);
}

const SLOPES = [0.9, 0.85, 0.8, 0.75, 0.7, 0.95, 0.65, 0.6];
const GRADS = [0.45, 0.5, 0.4, 0.35, 0.55, 0.3, 0.6, 0.25, 0.65, 0.2];
const BESIDE = [0, -13, 13];

// Room for the labels of wires: each tries places along its wire and takes the first that
// touches nothing; one without such a place is left out.
export function placeTags(trace, picture, curves = curvesOf(picture)) {
  const room = new Room();
  for (const part of picture.parts) {
    for (const spot of [...spotsOf(part), part.tray]) if (spot) room.take(spot);
    // The versions below chips.
    for (const [x, y, w, h] of part.chips || [part.chip]) room.take([x + w - 30, y + h, 30, 14]);
  }
  const letters = lettersOf(trace);
  const found = {};
  const wires = picture.lines.filter(({ id, k }) => k === "wire" && letters[id]);
  for (const [kind, shares] of [["slope", SLOPES], ["grad", GRADS]]) {
    for (const wire of wires) {
      const { id } = wire;
      if (!letters[id][kind]) continue;
      const points = curves.get(wire);
      const isSlope = kind === "slope";
      const width = letters[id][kind] * TAG_LETTER + 14 + 6 * Number(isSlope);
      const middles = BESIDE.flatMap((beside) => shares.map((share) => pointAt(points, share)).map(([x, y]) => [x, y + beside]));
      const [x, y] = points.at(-1);
      if (isSlope) middles.unshift([x - width / 2 - 3, y]); // where what it multiplies comes out of its box
      const spot = middles
        .map(([x, y]) => [x - width / 2, y - HIGH / 2, width, HIGH])
        .find((one) => room.isFree(one));
      if (!spot) continue;
      room.take(spot);
      (found[id] ||= {})[kind] = spot;
    }
  }
  return found;
}

function tagOf([x, y, width, height], kind, rx, place) {
  const words = svgElement("text", { x: x + width / 2 + (kind === "slope" ? 3 : 0), y: y + 15.5 });
  const rect = svgElement("rect", { x, y, width, height, rx });
  const tag = svgElement("g", { class: `tag ${kind}`, "data-place": place }, rect, words);
  return { tag, words, room: Math.floor((width - 10) / TAG_LETTER) };
}

// All examples of a vmap go along a double line.
const manyOf = (line) => (line.mapped ? "mapped" : "");
const between = (line) => (line.mapped ? svgElement("path", { class: "between", d: line.d }) : null);

export function wireOf(owner, line, tags = {}) {
  const path = svgElement("path", { class: "line", d: line.d });
  const [halo, hit] = ["halo", "hit"].map((kind) => svgElement("path", { class: kind, d: line.d }));
  const end = pointsOf(line.d)[0];
  const none = svgElement("path", { class: "none", d: `M${end[0] + 8} ${end[1] - 6}a6 6 0 1 1-.1 0m-4.2 10.2l8.4-8.4` });
  const is = { class: `edge ${manyOf(line)}`, id: `mg_${line.id}`, "data-place": `edge ${line.id}` };
  const shape = svgElement("g", is, halo, path, between(line), hit, none);
  const slope = tags.slope && tagOf(tags.slope, "slope", 0, `slope ${line.id}`);
  const grad = tags.grad && tagOf(tags.grad, "gradient", 11, `edge ${line.id}`);
  const over = svgElement("g", { class: "tags" }, slope?.tag, grad?.tag);
  owner.makeButton(shape, `edge ${line.id}`, owner.edgeName(line.id), () => owner.tellOf(line.id, ""));
  for (const label of over.children) label.onclick = hit.onclick;
  const tip = `url(#${owner.tip("wire")})`;
  const show = ({ state, event }) => {
    const now = state.edges[line.id] || "unseen";
    const sent = state.sent[line.id];
    const hot = event?.k === "grad" && event.e === line.id;
    if (sent) path.setAttribute("marker-start", tip);
    else path.removeAttribute("marker-start");
    if (slope) {
      const told = state.slopes[line.id];
      setKinds(slope.tag, { there: told });
      if (told) setText(slope.words, shortened(slopeWords(told), slope.room));
    }
    if (grad) {
      const words = sent && now !== "none" ? gradWords(owner.trace, sent) : "";
      setKinds(grad.tag, { there: words, hot });
      if (words) setText(grad.words, shortened(words, grad.room));
    }
  };
  return { shape, over, show };
}

// A value's way to a card.
export function flowOf(owner, line) {
  const path = svgElement("path", { class: "line", d: line.d, "marker-end": `url(#${owner.tip("flow")})` });
  const shape = svgElement("g", { class: `flow ${manyOf(line)}` }, path, between(line));
  const ctx = owner.story.nodes[line.to]?.ctx ?? line.to;
  const { keys = [] } = owner.picture.parts.find(({ id }) => id === line.of);
  const show = ({ state, event }) => {
    const used = state.nodes[line.to] || state.calls[ctx] === "unrecorded";
    const lit = used ? event.call === line.to || (event.k === "graph.node" && event.n === line.to) : Boolean(state.calls[ctx]);
    setKinds(shape, { lit, used, tangent: used && [line.of, ...keys].some((one) => state.tangents[one]) });
  };
  return { shape, show };
}

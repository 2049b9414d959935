// The parts of the picture: each is made once, and then brought up to what is shown.

import { squares } from "./arrays.js";
import { setText, svgElement } from "./dom.js";
import { message, wordFor } from "./messages.js";
import { brief, oddWords, shortened } from "./values.js";

const LETTER = 8.5; // wide, of 14 points; minigrad.views.picture leaves this room
const SMALL = 7.9; // of 13 points
const LONG = 9.1; // of 15 points
const MANY = 6; // letters of a value that is written in 17 points

const group = (attributes, ...children) => svgElement("g", attributes, ...children);

const card = ([x, y, width, height], kind, rx) => svgElement("rect", { class: kind, x, y, width, height, rx });

function text(x, y, words, kind, anchor = "middle") {
  return svgElement("text", { x, y, class: kind, "text-anchor": anchor }, words);
}

export function setKinds(node, kinds) {
  for (const kind in kinds) node.classList.toggle(kind, Boolean(kinds[kind]));
}

export function valueOf(trace, ref) {
  return (ref?.v && trace.values[ref.v]) || null;
}

export function isWritten(value) {
  return !value || !value.shape.length || (value.shape.length === 1 && value.shape[0] <= 3 && !value.cut);
}

// The lengths that count the examples of a vmap are set apart, as in
// minigrad.views.picture.shape_words.
function shapeOf(value, mapped = []) {
  return oddWords(value) || value.shape.map((length, axis) => (mapped.includes(axis) ? `[${length}]` : length)).join("×");
}

// An array as squares below its shape; nothing where it is written, or is not there.
function drawInto(thumb, [x, y, w, h], value) {
  thumb.replaceChildren();
  if (!value || isWritten(value)) return false;
  const { group: picture, width, height } = squares(value);
  picture.setAttribute("transform", `translate(${x + (w - width) / 2} ${y + 24 + (h - 30 - height) / 2})`);
  thumb.append(picture);
  return true;
}

const BEHIND = 4; // how far the second card of a stack looks out

// A tensor: its name and its value, a number or the squares of an array.
class Chip {
  constructor(trace, spot, name, ref, kind, place) {
    this.trace = trace;
    this.spot = spot;
    this.name = name;
    const [x, y, w, h] = spot;
    const isArray = h > 46;
    const title = shortened(name, 18);
    const corners = isArray ? 8 : 19;
    this.mapped = ref?.ax;
    const base = isArray ? y + 18 : y + h / 2 + 5;
    const behind = this.mapped && card([x + BEHIND, y - BEHIND, w, h], "skin behind", corners);
    const written = name && text(x + 12, base, title, "name", "start");
    this.note = text(x + w - 9, base, "", "shape", "end");
    const middle = name ? x + (title.length * LETTER + 12 + w) / 2 : x + w / 2;
    this.value = text(middle, y + h / 2 + 6, "", "value");
    this.thumb = svgElement("g", { class: "thumb" });
    this.stamp = text(x + w - 2, y + h + 13, "", "stamp", "end");
    const parts = [behind, card(spot, "skin", corners), written, this.note, this.value, this.thumb, this.stamp];
    this.box = group({ class: `chip ${kind}`, "data-place": place }, ...parts);
    this.isArray = isArray;
    this.show(ref, false);
  }

  show(ref, known) {
    setKinds(this.box, { known });
    const look = `${ref?.v}${ref?.r} ${known}`;
    if (look === this.look) return;
    this.look = look;
    const value = valueOf(this.trace, ref);
    const drawn = this.isArray && value && !isWritten(value);
    setText(this.note, drawn ? shapeOf(value, this.mapped) : "");
    drawInto(this.thumb, this.spot, drawn && known ? value : null);
    const short = !known || !ref ? "?" : isWritten(value) ? brief(this.trace, ref) : this.isArray ? "" : shapeOf(value, this.mapped);
    setText(this.value, drawn ? "" : short);
    setKinds(this.value, { long: this.value.textContent.length > MANY }); // written smaller
  }
}

// A leaf: its chip, and the slot of its gradient.
export function leafOf(owner, part) {
  const { trace } = owner;
  const chip = new Chip(trace, part.chip, part.t, part.v, "leaf", `value ${part.id} 0`);
  const [x, y, w, h] = part.slot;
  const isArray = h > 34;
  const hang = svgElement("path", { class: "hang", d: `M${x + w / 2} ${y - 14}V${y}` });
  const title = text(x + 8, isArray ? y + 17 : y + h / 2 + 4, ".grad", "name", "start");
  const corner = [x + w - 8, isArray ? y + 17 : y + h / 2 + 5];
  const value = text(corner[0], corner[1], "", "value", "end");
  const thumb = svgElement("g", { class: "thumb" });
  const slot = group({ class: "slot", "data-place": `grad ${part.n}` },
    card(part.slot, "skin", 7), hang, title, value, thumb, card(part.slot, "hit", 7));
  const tray = new Tray(trace, part.tray, `waits ${part.n}`, part.v?.ax);
  const node = group({ class: "node", id: `mg_${part.id}` }, chip.box, card(part.chip, "hit", 19));
  const shape = group({ class: "leaf" }, node, slot, tray.box);
  owner.makeNode(node, part.n, chip.name);
  owner.makeSlot(slot, part);
  let look = null;
  const show = ({ state, event }) => {
    const changed = state.changed[part.t];
    chip.show(changed?.ref || part.v, true);
    setText(chip.stamp, changed ? message("value.version", { version: changed.ver }) : "");
    const old = state.grads[part.n];
    const waiting = Object.values(state.waiting[part.n] || {});
    const coming = state.coming[part.n] && waiting[0]?.total;
    const ref = old || coming;
    setKinds(slot, { full: old, coming: !old && coming, hot: event?.k === "grad.accumulate" && event.n === part.n });
    const now = ref ? `${ref.v} ${!old}` : "";
    if (now !== look) {
      look = now;
      const array = isArray ? valueOf(trace, ref) : null;
      const drawn = drawInto(thumb, part.slot, array);
      const words = ref && !drawn ? brief(trace, ref) : "";
      const isLong = isArray && words.length > MANY;
      const room = Math.max(4, Math.floor((w - (isLong ? 16 : 58)) / LONG));
      const number = shortened(words.length > room ? words.replaceAll(" ", "") : words, room);
      const written = drawn ? shapeOf(array, part.v?.ax) : number;
      const arrow = !old && written.length + 2 <= room ? "← " : "";
      setText(value, ref ? arrow + written : "None");
      setKinds(value, { below: isLong });
      const [left, top] = isLong ? [x + w / 2, y + h - 12] : corner;
      value.setAttribute("x", left);
      value.setAttribute("y", top);
    }
    const added = state.added[part.n];
    if (old && coming) waiting[0] = { ...waiting[0], more: true };
    tray.show(added ? [added] : waiting, state.left[part.n], false, true, Boolean(old));
  };
  return { shape, show };
}

// Data: no gradient is asked for, so nothing hangs below.
export function dataOf(owner, part) {
  const chip = new Chip(owner.trace, part.chip, part.t, part.v, "data", `value ${part.id} 0`);
  chip.show(part.v, true);
  const shape = group({ class: "data" }, chip.box, card(part.chip, "hit", 19));
  owner.makeData(shape, part);
  if (!part.tray) return { shape, show: () => {} };
  const tray = new Tray(owner.trace, part.tray, `waits ${part.keys[0]}`);
  shape.append(tray.box);
  return { shape, show: ({ state }) => tray.tell(state.tangents[part.keys[0]]) };
}

// What waits at a node, and of what it is the sum.
class Tray {
  constructor(trace, spot, place, mapped) {
    this.trace = trace;
    this.spot = spot;
    this.mapped = mapped;
    const [x, y, w, h] = spot;
    this.isArray = h > 26;
    this.sum = text(x + w / 2, this.isArray ? y + 17 : y + h / 2 + 5, "", "sum");
    this.thumb = svgElement("g", { class: "thumb" });
    this.box = group({ class: "tray", "data-place": place }, card(spot, "skin", 13), this.sum, this.thumb);
  }

  // `left` are still to come; of a leaf one alone is in the slot, which may have the sum.
  show(gathered, left, hot, ofLeaf = false, isFull = false) {
    const there = Boolean(left || gathered.some(({ parts, more }) => !ofLeaf || more || parts.length > 1));
    setKinds(this.box, { there, whole: gathered.length && !left, hot, tangent: false });
    const look = there ? `${left} ${isFull} ${gathered.map(({ parts, total }) => [...parts, total].map((one) => one?.v))}` : "";
    if (look === this.look) return;
    this.look = look;
    const value = gathered.length === 1 && !left ? valueOf(this.trace, gathered[0].total) : null;
    const room = Math.floor((this.spot[2] - 12) / LETTER);
    const isDrawn = drawInto(this.thumb, this.spot, there && this.isArray ? value : null);
    setText(this.sum, !there ? "" : isDrawn ? shortened(shapeOf(value, this.mapped), room) : this.words(gathered, left, room, isFull));
  }

  tell(tangent) {
    setKinds(this.box, { there: tangent, tangent: true });
    const look = `tangent ${tangent?.v}`;
    if (look === this.look) return;
    this.look = look;
    const value = tangent ? this.short(tangent) : "";
    drawInto(this.thumb, this.spot, this.isArray ? valueOf(this.trace, tangent) : null);
    const room = Math.floor((this.spot[2] - 12) / LETTER);
    const words = message("tangent.beside", { value });
    setText(this.sum, shortened(words.length <= room ? words : value, room));
  }

  // The longest that fits: "2 + 3 = 5", "2 + …", "1 of 2"; of several outputs "5, 2".
  // What comes to a full slot is "+ 5".
  words(gathered, left, room, isFull) {
    const sums = gathered.map(({ parts }) => parts.map((one) => this.short(one)).join(" + "));
    const here = gathered.reduce((all, { parts }) => all + parts.length, 0);
    const tries = [];
    if (gathered[0]?.more && here === 1) tries.push(`+ ${sums[0]}`);
    else if (left) {
      if (here) tries.push(`${sums.join(", ")} + …`);
      tries.push(message("tray.some", { here, count: here + left }));
    } else {
      const totals = gathered.map(({ total }) => this.short(total));
      tries.push(sums.map((sum, at) => (sum === totals[at] ? sum : `${sum} = ${totals[at]}`)).join(", "));
      if (gathered[0].root) tries.unshift(message("tray.begins", { value: totals[0] }));
      tries.push(isFull ? message("tray.sum", { count: here }) : totals.join(", "));
    }
    return tries.find((one) => one.length <= room) || shortened(tries.at(-1), room);
  }

  short(ref) {
    const value = valueOf(this.trace, ref);
    return value && !isWritten(value) ? shapeOf(value) : brief(this.trace, ref);
  }
}

// A call: its card, what came out, and the box of what it keeps.
export function callOf(owner, part) {
  const { trace, story } = owner;
  const [x, y, w, h] = part.card;
  const pills = part.pills || [];
  const rows = pills.length * 24 + (part.sub ? 16 : 0);
  const base = y + (h - rows) / 2 + 5;
  const titles = part.name.map((line, place) => {
    return text(x + w / 2, base + (place - (part.name.length - 1) / 2) * 17, line, "title");
  });
  const sub = part.sub && text(x + w / 2, base + 8.5 * part.name.length + 9, part.sub, "small");
  const params = pills.map(([name, wide], place) => {
    const at = y + h - (pills.length - place) * 24;
    const pill = card([x + (w - wide) / 2, at, wide, 20], "skin", 10);
    return group({ class: "param" }, pill, text(x + w / 2, at + 14, name, "small"));
  });
  const is = { class: "op", "data-place": `call ${part.id}` };
  const op = group(is, card(part.card, "skin", 10), ...titles, sub, ...params);
  const chips = part.chips.map((spot, slot) => new Chip(trace, spot, part.t[slot], part.v[slot], part.plain.includes(slot) ? "data" : "result", `value ${part.id} ${slot}`));
  const ways = part.chips.map(([left, top, , tall]) => {
    const [from, to] = [y + h / 2, top + tall / 2];
    const by = (left - x - w) / 2;
    const d = `M${x + w} ${from}C${x + w + by} ${from} ${left - by} ${to} ${left - 3} ${to}`;
    return svgElement("path", { class: "line", d, "marker-end": `url(#${owner.tip("flow")})` });
  });
  const flow = group({ class: "out" }, ...ways);
  const box = part.box[3] ? new Box(owner, part) : null;
  const tray = new Tray(trace, part.tray, `waits ${part.n ?? part.keys?.[0]}`, part.v[0]?.ax);
  const [left, top] = [Math.min(x, part.box[0]), Math.min(y, part.chips[0][1])];
  const room = [left, top, part.box[0] + part.box[2] - left, part.box[1] + part.box[3] - top];
  for (const [from, , wide] of part.chips) room[2] = Math.max(room[2], from + wide - left);
  const parts = [flow, op, ...chips.map((one) => one.box), box?.dock, box?.box, card(room, "hit", 10)];
  const node = group({ class: "node", id: `mg_${part.id}` }, ...parts);
  const shape = group({ class: "call" }, node, tray.box);
  if (part.n) owner.makeNode(node, part.n, part.name.join(" "));
  if (part.n && part.chips.length > 1) {
    part.chips.forEach((spot, slot) => {
      const hit = card(spot, "hit", 19);
      node.append(hit);
      const name = message("number.output", { node: owner.nodeName(part.n), slot });
      owner.makeButton(hit, `node ${part.n} ${slot}`, name);
    });
  }
  tray.box.onclick = () => node.querySelector(".hit").dispatchEvent(new MouseEvent("click"));
  const ctx = part.ctx ?? story.nodes[part.n]?.ctx;
  const show = ({ state, event }) => {
    const now = state.nodes[part.n];
    const unrecorded = state.calls[ctx] === "unrecorded";
    const call = unrecorded ? undefined : state.calls[ctx];
    const running = part.inside
      ? !now && part.inside.some((one) => state.nodes[one])
      : Boolean(call) && !now;
    const fails = Boolean(state.error) && (state.cid === ctx && ctx !== null && (running || now === "active"));
    setKinds(op, { running, over: now || unrecorded, fails });
    chips.forEach((chip, slot) => {
      const known = Boolean(now) || call === "returned" || unrecorded;
      const changed = state.changed[part.t[slot]];
      const stale = known && changed && state.handles[part.t[slot]] !== part.n;
      chip.show(part.v[slot], known);
      setKinds(chip.box, { hot: (event?.k === "graph.node" && event.n === part.n) || (call === "returned" && !now), stale });
      setText(chip.stamp, stale ? message("value.version", { version: changed.ver }) : "");
    });
    setKinds(flow, { lit: running || (event?.k === "graph.node" && event.n === part.n), used: now || unrecorded });
    params.forEach((pill, place) => setKinds(pill, { full: state.grads[part.leaves[place]] }));
    box?.show(state, now, call, fails);
    if (box) setKinds(box.dock, { gone: unrecorded });
    const tangent = [part.n, ...(part.keys || [])].map((one) => state.tangents[one]).find(Boolean);
    const waiting = Object.values(state.waiting[part.n] || {});
    if (tangent && !waiting.length) tray.tell(tangent);
    else tray.show(waiting, state.left[part.n], now === "active");
  };
  return { shape, show };
}

const FLAP = 18;

// The ctx: an open box beside its card, then docked below the result as its grad_fn.
class Box {
  constructor(owner, part) {
    this.owner = owner;
    this.part = part;
    this.ctx = part.ctx ?? owner.story.nodes[part.n]?.ctx;
    const [x, y, w, h] = part.box;
    const chip = part.chips.at(-1);
    const cord = chip[0] + chip[2] / 2;
    const low = chip[1] + chip[3];
    this.dock = group(
      { class: "dock" },
      card(part.box, "place", 8),
      svgElement("path", { class: "cord", d: `M${cord} ${low}V${y}` }),
      svgElement("circle", { class: "ring", cx: cord, cy: (low + y) / 2, r: 4.5 }),
    );
    const body = `M${x} ${y}v${h - 8}q0 8 8 8h${w - 16}q8 0 8-8v${8 - h}`;
    const flap = (side, from, by) => {
      const style = `transform-origin:${from}px ${y}px`;
      return svgElement("path", { class: `flap ${side}`, d: `M${from} ${y}h${by}`, style });
    };
    this.head = text(x + 9, y + 18, "ctx", "head", "start");
    this.empty = text(x + w / 2, y + h / 2 + 6, "", "empty");
    this.label = text(x + w - 7, y + h - 7, part.label, "label", "end");
    this.cells = part.cells.map(([key, words, left, top, size]) => {
      const spot = [x + left, y + top + 28, size, 30];
      const written = text(x + left + size / 2, y + top + 48, words, "kept");
      const is = { class: "cell", "data-place": `entry ${this.ctx} ${key}` };
      const box = group(is, card(spot, "skin", 5), written);
      // A built-in operation that is released can't use its plain numbers either.
      const isNumber = key === "attr.numbers" && !part.head.startsWith("ctx");
      return { key, isNumber, room: Math.floor((size - 8) / SMALL), box, words: written };
    });
    this.rest = part.more ? text(x + 9, y + h - 7, `+${part.more}`, "small", "start") : null;
    this.box = group({ class: "box" },
      svgElement("path", { class: "skin", d: body }),
      svgElement("path", { class: "lid", d: `M${x} ${y}h${w}` }),
      flap("left", x, FLAP), flap("right", x + w, -FLAP),
      this.head, this.empty, this.label, ...this.cells.map(({ box }) => box), this.rest,
    );
    // Where it stands while it is filled: under its card.
    this.away = [part.card[0] - x, Math.abs(part.card[0] - x) < 24 ? 22 : 12];
  }

  show(state, now, call, fails) {
    const { part } = this;
    const entries = state.ctxs[this.ctx] || {};
    const there = Boolean(now || call);
    const freed = state.freed[part.n];
    const [dx, dy] = now || !there ? [0, 0] : this.away;
    this.box.style.transform = dx || dy ? `translate(${dx}px, ${dy}px)` : "";
    const running = now === "active";
    setKinds(this.box, { there, open: !now || running || freed, running, freed, fails, handed: !now && call === "forward" });
    setKinds(this.dock, { docked: now, made: call && !now });
    setText(this.head, now ? part.head : "ctx");
    let filled = 0;
    let label = part.label;
    for (const cell of this.cells) {
      const ref = entries[cell.key];
      const inside = Boolean(ref) && !(ref.t === "P" && ref.r === "freed") && !(freed && cell.isNumber);
      filled += Number(inside);
      const stale = ref?.t === "S" && ref.now !== ref.ver;
      // Of a hook, something else is kept than what was saved.
      const packed = cell.key.startsWith("saved.") && inside && !"ST".includes(ref.t);
      setKinds(cell.box, { inside, stale, packed });
      if (stale) label = message("box.stale", { saved: ref.ver, now: ref.now });
      if (inside) setText(cell.words, shortened(this.wordsOf(cell.key, ref, stale), cell.room));
    }
    setText(this.label, label);
    setKinds(this.label, { stale: label !== part.label });
    if (this.rest) setKinds(this.rest, { gone: !filled });
    setText(this.empty, filled ? "" : message(freed ? "box.released" : now ? "box.nothing" : "box.empty"));
  }

  wordsOf(key, ref, stale) {
    const { trace } = this.owner;
    if (stale) return message("value.version", { version: ref.ver });
    if (key === "attr.numbers" && ref.t === "L") {
      return ref.i.filter((one) => one && one.r !== "None").map((one) => brief(trace, one)).join(", ");
    }
    const name = key.startsWith("attr.") ? key.slice(5) : ref.name || "";
    const value = valueOf(trace, ref);
    const words = value && !isWritten(value) ? shapeOf(value) : ref.t === "P" ? wordFor(ref.r) : brief(trace, ref);
    return `${name} ${words}`.trim();
  }
}
